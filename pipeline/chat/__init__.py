"""Chats in tokens: what a model's template puts around the texts, taken out of the template on the host."""
