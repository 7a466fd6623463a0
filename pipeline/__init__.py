"""From a model in an Ollama store to the tables that firmware reads in place."""
