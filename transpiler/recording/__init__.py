"""`np2fx record`: runs a project's own tests or programs and keeps what its functions are passed.

    watching    sees each call of the project's functions, and describes its arguments
    sizes       which sizes were the same in all calls, and which were equal to each other
    samples     bounded samples of arguments, on request
    launching   starts the program under the watch, and gathers what its processes saw
"""
