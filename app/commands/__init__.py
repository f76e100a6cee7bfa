"""The commands that need no window (spec/shell.md section 5). Qt-free."""
