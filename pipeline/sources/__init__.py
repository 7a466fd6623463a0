"""Where models come from: the Ollama store, a GGUF file, the sample."""
