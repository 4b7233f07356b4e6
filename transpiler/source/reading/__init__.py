"""What is read before anything is known: files, configuration, names, nodes, the rule table as text."""
