"""An adversary: it writes random NumPy programs and looks for one on which np2fx is wrong.

    python -m tests.adversary --minutes 10

A program is written statement by statement. NumPy runs each statement as it is written, so that the next one knows the
dtypes, ranks and shapes of all variables and most programs are valid. Each program is then converted and traced, and what comes
out is compared with NumPy: values, shapes, dtypes, errors, and the arguments left behind, on its sample and on a second input.
"""
