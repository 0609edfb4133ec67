"""Seeds as files, and pools of them that are chosen by what their programs are made of."""
