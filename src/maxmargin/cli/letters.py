"""What LIBSVM's and LIBLINEAR's options are called here: a hint where one of them was meant."""

LETTERS = {
    "-s": "-s 0, C-SVC, is the default (-e svc); LIBLINEAR's -s 3 and -s 1 are -e linear with --loss hinge and squared_hinge",
    "-t": "-t 0, 1, 2, 3 are --kernel linear, poly, rbf, sigmoid",
    "-v": "-v 5 is maxmargin cv DATA -k 5",
    "-e": "-e 0.001 is --tol 0.001, here the relative duality gap",
    "-m": "-m 100 is --set cache_size=100",
    "-b": "probabilities are not on the command line; in Python they are CalibratedClassifierCV(SVC(), ensemble=False)",
    "-n": "-n belongs to nu-SVC; choose C instead, maxmargin search DATA does",
    "-p": "-p belongs to regression, which the command line does not have",
    "-w": "-w1 5 is --class-weight 1=5",
    "-l": "svm-scale -l 0 -u 1 is --scale minmax of maxmargin fit",
    "-u": "svm-scale -l 0 -u 1 is --scale minmax of maxmargin fit",
    "-B": "-B 1 is --set intercept_scaling=1, -B -1 is --no-intercept",
    "-R": "-R, a bias that is not penalised, is the default",
    "argument": "-w1 5 is --class-weight 1=5; files come as fit DATA -o MODEL, and predict MODEL DATA -o FILE",
}
"""What stands here for an option of LIBSVM or LIBLINEAR; for "argument", for the order of their files."""


def with_hint(sentence: str, letter: str) -> str:
    """An error, followed by what LIBSVM's option of this letter is here, if there is one.

    Examples
    --------
    >>> with_hint("No such option: -v.", "-v")
    'No such option: -v. If you come from LIBSVM: -v 5 is maxmargin cv DATA -k 5.'
    """
    return f"{sentence} If you come from LIBSVM: {LETTERS[letter]}." if letter in LETTERS else sentence
