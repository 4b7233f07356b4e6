"""Whether two answers are the same, the search for inputs on which they are not, and the script that shows it."""
