"""GGUF, the file format of llama.cpp and Ollama models: layout, reader and writer."""
