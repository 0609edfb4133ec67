"""``python -m eqfuzz``."""

from eqfuzz.cli import main

if __name__ == "__main__":
    main()
