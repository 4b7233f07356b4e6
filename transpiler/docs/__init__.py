"""The pages under docs/ that are made from the rule table, the kinds of finding and the installed NumPy.

`python -m np2fx.docs` writes them; a test holds the committed pages against what it would write.
"""
