"""What converted functions call where facts leave something open, and how their arguments come in and results go out."""
