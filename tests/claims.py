"""Where the library claims something in a sentence that it prints, and the test that backs the claim.

A claim is a string literal of `src` or a piece of text in a template, of more than one word, with one of `WORDS` in it. Left out
are docstrings, which the doctests and the tests of their functions are about, and refusals: what is raised, or given to `check`,
says what input is wanted, except that no hyperplane exists.

`CLAIMS` has an entry for each: where it is printed, how it begins, and the test that fails where it is false. `NO_CLAIMS` are
sentences with such a word that say nothing about a model: headings, options, formulas, and what input is wanted.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, nodes

import maxmargin

ROOT = Path(maxmargin.__file__).parent
WORDS = re.compile(
    r"≤|≥|\bexact|\bprove|\bproof|\bcannot\b|\bnever\b|\balways\b|\bcertain|certifi|\bguarantee|\boptimal|\bwitness|\bpromise"
    r"|\bat most\b|\bat least\b|\bbest possible\b|\bno (?:model|hyperplane|other|feasible)\b|\bnothing moves\b"
    r"|\bseparates\b|\bnot separate\b",
    re.IGNORECASE,
)
CLAIMING_ERRORS = ("NotSeparableError",)


class Claim(NamedTuple):
    """What is claimed."""

    file: str
    begins: str
    test: str


class Sentence(NamedTuple):
    """A string literal, {} for what is filled in, and where it stands."""

    file: str
    line: int
    text: str


def sentences(source: str, file: str) -> Iterator[Sentence]:
    """The string literals of some source that are neither docstrings nor refusals, an f-string as a whole."""
    yield from _below(ast.parse(source), file)


def template_sentences(source: str, file: str) -> Iterator[Sentence]:
    """The pieces of text between the tags of a template, {} for what is filled in, and its string literals."""
    tree = Environment().parse(source)
    for output in tree.find_all(nodes.Output):
        pieces = [node.data if isinstance(node, nodes.TemplateData) else "{}" for node in output.nodes]
        for text in re.split(r"<[^>]*>", "".join(pieces)):
            yield Sentence(file, output.lineno, " ".join(text.split()))
    for constant in tree.find_all(nodes.Const):
        if isinstance(constant.value, str):
            yield Sentence(file, constant.lineno, constant.value)


def script_sentences(source: str, file: str) -> Iterator[Sentence]:
    """The texts of a JavaScript file, comments left out, {} for what a template fills in."""
    for number, line in enumerate(source.splitlines(), 1):
        code = re.sub(r"(^|\s)//.*", "", line)
        for double, back in re.findall(r'"([^"]*)"|`([^`]*)`', code):
            yield Sentence(file, number, double or re.sub(r"\$\{[^}]*\}", "{}", back))


def _below(node: ast.AST, file: str) -> Iterator[Sentence]:
    if isinstance(node, ast.Raise) and _name_of(node.exc) not in CLAIMING_ERRORS:
        return
    if isinstance(node, ast.Call) and _name_of(node) == "check":
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield Sentence(file, node.lineno, node.value)
        return
    if isinstance(node, ast.JoinedStr):
        yield Sentence(file, node.lineno, "".join(v.value if isinstance(v, ast.Constant) else "{}" for v in node.values))
        filled = [value for value in node.values if isinstance(value, ast.FormattedValue)]
        for value in filled:
            yield from _below(value.value, file)
        return
    for child in ast.iter_child_nodes(node):
        yield from _below(child, file)


def _name_of(raised: ast.AST | None) -> str:
    called = raised.func if isinstance(raised, ast.Call) else raised
    return called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""


READERS = {"*.py": sentences, "*.html.j2": template_sentences, "*.html": template_sentences, "*.js": script_sentences}
"""What finds the sentences of each kind of file."""


@cache
def claiming_sentences() -> list[Sentence]:
    """All of the library."""
    return [
        one
        for pattern, read in READERS.items()
        for path in sorted(ROOT.rglob(pattern))
        for one in read(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())
        if WORDS.search(one.text) and " " in one.text.strip()
    ]


CLAIMS = (
    Claim(
        "cli/about.py",
        "It is not proved to separate its samples.",
        "tests/estimators/stochastic/test_perceptron.py::test_where_nothing_separates_there_is_a_warning_and_no_witness",
    ),
    Claim(
        "estimators/base.py",
        "This {} carries no certificate",
        "tests/cli/test_commands.py::test_models_without_a_certificate_say_so",
    ),
    Claim(
        "estimators/stochastic/perceptron.py",
        "A perceptron minimises nothing",
        "tests/estimators/stochastic/test_perceptron.py::test_a_clean_epoch_comes_with_a_witness_within_the_computed_bound",
    ),
    Claim(
        "estimators/stochastic/pegasos.py",
        "A model that was learned from a stream",
        "tests/html_report/test_report.py::test_a_stream_has_no_certificate_and_says_so",
    ),
    Claim(
        "html_report/templates/certificate.html.j2",
        "There is no proof: a model file keeps no witness",
        "tests/io/model/test_model_file.py::test_a_loaded_model_has_every_attribute_of_the_saved_one",
    ),
    Claim(
        "analysis/bound.py",
        "This is a plug-in figure",
        "tests/analysis/test_bounds.py::test_measured_values_make_plug_in_figures_and_the_number_stays",
    ),
    Claim(
        "analysis/bounds.py",
        "The perceptron makes at most {} updates.",
        "tests/analysis/test_bounds.py::test_the_perceptron_keeps_within_its_bound",
    ),
    Claim(
        "analysis/bounds.py",
        "No hyperplane through the origin separates",
        "tests/analysis/test_bounds.py::test_perceptron_margin_is_the_inverse_of_the_updates",
    ),
    Claim(
        "analysis/bounds.py",
        "In the mean over training sets, the leave-one-out error",
        "tests/analysis/test_bounds.py::test_leave_one_out_support_by_hand",
    ),
    Claim(
        "analysis/bounds.py",
        "With probability at least {} the hard margin's error",
        "tests/analysis/test_bounds.py::test_hard_margin_by_hand",
    ),
    Claim(
        "analysis/bounds.py",
        "From {} samples on, the hard margin's error",
        "tests/analysis/test_bounds.py::test_hard_margin_samples_are_enough_and_one_less_is_not",
    ),
    Claim(
        "analysis/bounds.py",
        "A margin of at least {}",
        "tests/analysis/test_bounds.py::test_hard_margin_gamma_gives_back_epsilon",
    ),
    Claim(
        "analysis/bounds.py",
        "The hard margin's error on new data exceeds",
        "tests/analysis/test_bounds.py::test_hard_margin_delta_gives_back_epsilon",
    ),
    Claim(
        "analysis/bounds.py",
        "In the mean over training sets, the soft margin's error",
        "tests/analysis/test_bounds.py::test_soft_margin_by_hand",
    ),
    Claim(
        "analysis/bounds.py",
        "From {} samples on, the soft margin's mean error",
        "tests/analysis/test_bounds.py::test_soft_margin_samples_are_enough_and_one_less_is_not",
    ),
    Claim(
        "analysis/bounds_of_dimension.py",
        "an error of at most {} with probability 99 %",
        "tests/analysis/test_bounds_of_dimension.py::"
        "test_from_so_many_samples_every_learner_fails_on_some_labels_of_a_hard_distribution",
    ),
    Claim(
        "core/halfspace.py",
        "u ≥ 1: in the target halfspace",
        "tests/core/test_halfspace.py::test_the_three_cases_have_the_slacks_of_the_text",
    ),
    Claim(
        "core/halfspace.py",
        "0 ≤ u < 1: short of the target",
        "tests/core/test_halfspace.py::test_the_three_cases_have_the_slacks_of_the_text",
    ),
    Claim(
        "theory/finite_sets.py",
        "min max f = {} ≥ {} ≥ {} = max min f",
        "tests/theory/test_finite_sets.py::test_min_max_is_never_below_max_min_and_one_value_lies_between",
    ),
    Claim(
        "theory/margins.py",
        "Separable with the margin γ",
        "tests/theory/test_margins.py::test_the_margin_of_a_data_set_brackets_the_exact_one",
    ),
    Claim(
        "analysis/witness.py",
        "Separable: a hyperplane keeps every sample at least",
        "tests/analysis/test_witness.py::test_true_witnesses_hold",
    ),
    Claim(
        "analysis/witness.py",
        "In float64: the weights prove",
        "tests/analysis/test_witness.py::test_no_margin_exceeds_the_bound_of_any_weights",
    ),
    Claim(
        "analysis/witness.py",
        "The weights differ from their exact values.",
        "tests/analysis/test_witness.py::test_changed_weights_beside_exact_ones_fail",
    ),
    Claim(
        "analysis/witness.py",
        "Exactly: the identity",
        "tests/analysis/test_witness.py::test_a_changed_exact_weight_fails",
    ),
    Claim(
        "analysis/leave_one_out/theorems.py",
        "It is a training error; of an exact optimum",
        "tests/analysis/leave_one_out/test_leave_one_out.py::test_training_errors_are_leave_one_out_errors",
    ),
    Claim(
        "plot/curves.py",
        "dual value: what no model can beat",
        "tests/plot/test_curves.py::test_the_primal_and_dual_values_close_in_on_the_optimum",
    ),
    Claim(
        "cli/commands.py",
        "Not certified: the relative gap",
        "tests/cli/test_commands.py::test_certify_ends_with_3_where_the_gap_of_the_fit_is_missed",
    ),
    Claim(
        "cli/demonstration.py",
        "maxmargin: every answer carries its proof",
        "tests/cli/test_demonstration.py::test_the_demo_says",
    ),
    Claim(
        "cli/demonstration.py",
        "Anyone can check the witness.",
        "tests/estimators/test_svc_hard_margin.py::test_the_iris_pair_that_overlaps_is_refused_with_an_exact_witness",
    ),
    Claim(
        "cli/demonstration.py",
        "Exact leave-one-out: {} models",
        "tests/estimators/leave_one_out/test_leave_one_out.py::test_every_label_is_that_of_an_honest_fit",
    ),
    Claim(
        "cli/demonstration.py",
        "not certified",
        "tests/core/certificate/test_certificate_words.py::test_it_is_certified_at_tol_and_not_just_above",
    ),
    Claim(
        "cli/commands.py",
        "Not certified",
        "tests/cli/test_commands_fit.py::test_a_budget_that_runs_out_is_exit_code_3_and_the_model_is_saved",
    ),
    Claim(
        "cli/commands.py",
        "{} labels are too close to a tie to be certain",
        "tests/estimators/leave_one_out/test_leave_one_out.py::test_ties_are_called_undecidable",
    ),
    Claim(
        "cli/commands.py",
        "Write certain or open after the label",
        "tests/estimators/test_svc_prediction.py::test_a_certified_prediction_never_changes_at_the_exact_optimum",
    ),
    Claim(
        "cli/validation.py",
        "exact leave-one-out",
        "tests/cli/test_validation.py::test_search_by_leave_one_out_tells_the_exact_errors",
    ),
    Claim(
        "cli/commands.py",
        "Include exact leave-one-out",
        "tests/estimators/leave_one_out/test_leave_one_out.py::test_every_label_is_that_of_an_honest_fit",
    ),
    Claim(
        "core/certificate/certify.py",
        "Not certified: the gap is infinite",
        "tests/core/certificate/test_certificate_words.py::test_an_infinite_gap_is_not_certified",
    ),
    Claim(
        "core/certificate/certify.py",
        "Not certified: the gap is {}",
        "tests/core/certificate/test_certificate_words.py::test_it_is_certified_at_tol_and_not_just_above",
    ),
    Claim(
        "core/certificate/certify.py",
        "Not certified: an earlier version",
        "tests/io/model/test_model_file.py::test_files_of_version_1_know_no_training_data_and_their_certificates_have_the_goal_of_the_fit",
    ),
    Claim(
        "core/certificate/certify.py",
        "the objective {} is proved to be within",
        "tests/core/certificate/test_certificate.py::test_the_gap_is_never_below_the_true_suboptimality",
    ),
    Claim(
        "core/certificate/certify.py",
        "Optimal to rounding",
        "tests/core/certificate/test_certificate_words.py::test_optimal_to_rounding_needs_the_gap_that_was_asked_for",
    ),
    Claim(
        "core/certificate/certify.py",
        "{} What is proved is about the data given.",
        "tests/estimators/test_training_data.py::test_other_data_that_the_model_is_optimal_for_are_certified_and_named",
    ),
    Claim(
        "core/certificate/certify.py",
        "scale the features, or relax tol: at least half",
        "tests/core/certificate/test_certificate_words.py::test_optimal_to_rounding_needs_the_gap_that_was_asked_for",
    ),
    Claim(
        "core/solution.py",
        "The requested gap was reached and proved.",
        "tests/solvers/test_driver.py::test_a_solver_that_flatters_itself_is_not_believed",
    ),
    Claim(
        "core/solution.py",
        "The solver finished just short",
        "tests/solvers/test_driver.py::test_a_solver_that_gives_up_near_the_tolerance_has_almost_solved_and_far_from_it_not",
    ),
    Claim(
        "core/solution.py",
        "The solver found no feasible point",
        "tests/solvers/test_driver.py::test_a_hard_margin_that_cannot_be_had_is_infeasible",
    ),
    Claim(
        "estimators/progress/callbacks.py",
        "Not certified: ",
        "tests/core/certificate/test_certificate_words.py::test_a_fit_that_was_stopped_after_one_round_is_not_certified",
    ),
    Claim(
        "estimators/progress/display.py",
        "gap {} {}certified",
        "tests/core/certificate/test_certificate_words.py::test_a_fit_that_was_stopped_after_one_round_is_not_certified",
    ),
    Claim(
        "estimators/leave_one_out/result.py",
        "It lies outside the margin, so nothing moves",
        "tests/analysis/leave_one_out/test_leave_one_out.py::test_what_is_no_support_vector_stays_correct_and_moves_nothing",
    ),
    Claim(
        "estimators/leave_one_out/result.py",
        "Its weight is 0: it was never there.",
        "tests/estimators/leave_one_out/test_leave_one_out.py::test_weights_count_and_weight_zero_is_absent",
    ),
    Claim(
        "estimators/separable.py",
        "No {} separates {} from {}.",
        "tests/analysis/test_separability.py::test_floats_are_never_decided_wrongly",
    ),
    Claim(
        "plot/boundary.py",
        "never a mistake",
        "tests/plot/test_boundary.py::test_the_other_estimators_have_boundaries_too",
    ),
    Claim(
        "html_report/templates/support.html.j2",
        "The certificate counts {}, because",
        "tests/html_report/test_report.py::test_the_number_of_support_vectors_does_not_contradict_the_certificate",
    ),
    Claim(
        "html_report/templates/proof.html.j2",
        "No finite gap was proved.",
        "tests/html_report/test_report.py::test_every_page_says_what_is_proved",
    ),
    Claim(
        "html_report/templates/leave_one_out.html.j2",
        "Leave-one-out error: {}. Each label comes",
        "tests/estimators/leave_one_out/test_leave_one_out.py::test_every_label_is_that_of_an_honest_fit",
    ),
    Claim(
        "html_report/templates/page.html.j2",
        ", with its proof",
        "tests/html_report/test_report.py::test_every_page_says_what_is_proved",
    ),
    Claim(
        "html_report/templates/certificate.html.j2",
        "P is the objective of this model and D a lower bound",
        "tests/theorems/test_duality.py::test_weak_duality_no_dual_value_exceeds_any_primal_value",
    ),
    Claim(
        "html_report/templates/certificate.html.j2",
        "The ramp loss is not convex: the certificate",
        "tests/html_report/test_report.py::test_the_certificate_of_a_ramp_says_what_it_is_about",
    ),
    Claim(
        "html_report/templates/certificate.html.j2",
        "There is no certificate: this model was learned",
        "tests/html_report/test_report.py::test_a_stream_has_no_certificate_and_says_so",
    ),
    Claim(
        "html_report/templates/certificate.html.j2",
        "There is no certificate of optimality",
        "tests/html_report/test_report.py::test_every_page_says_what_is_proved",
    ),
    Claim(
        "html_report/templates/certificate.html.j2",
        "none: its last epoch still made mistakes",
        "tests/estimators/stochastic/test_perceptron.py::test_where_nothing_separates_there_is_a_warning_and_no_witness",
    ),
    Claim(
        "lab/lessons.py",
        " After {} it is proved that no unit vector",
        "tests/lab/test_lessons.py::test_the_margin_that_mistakes_leave_possible_is_not_below_the_true_one",
    ),
    Claim(
        "lab/presets.py",
        "Small C to large C on data that no line separates",
        "tests/lab/test_presets.py::test_what_is_said_not_to_be_separable_is_not",
    ),
    Claim(
        "lab/presets.py",
        "No line separates these corners.",
        "tests/lab/test_presets.py::test_what_is_said_not_to_be_separable_is_not",
    ),
    Claim(
        "lab/lessons.py",
        "Primal (above) and dual value of {}, certified",
        "tests/lab/test_lessons.py::test_primal_and_dual_close_in_on_the_certified_optimum",
    ),
    Claim(
        "solvers/ramp/exact.py",
        "exact: branch and bound",
        "tests/solvers/ramp/test_ramp.py::test_the_exact_search_finds_the_least_value",
    ),
)

NO_CLAIMS = (
    ("analysis/bounds_of_dimension.py", "a number > 0 and at most 1/8"),
    ("theory/joachims.py", "2αR² + ξ ≥ 1"),
    ("lab/machines.py", "model.n_updates_, model.witness_"),
    ("lab/server.py", "A question has at most"),
    ("_loops/disk_cache.py", "compiled loops cannot be written"),
    ("analysis/bounds.py", "every sample has ‖x‖ ≤ ρ"),
    ("analysis/bounds.py", "some unit vector u has"),
    ("analysis/bounds.py", "n_support is the mean"),
    ("analysis/bounds.py", "with probability 1 its samples have"),
    ("analysis/bounds.py", "smallest m with"),
    ("analysis/bound.py", "a finite number ≥ 0"),
    ("analysis/bound.py", "a number > 0 and at most rho"),
    ("analysis/bound.py", "gamma is the margin"),
    ("analysis/bound.py", "rho is the radius of the data"),
    ("analysis/bound.py", "updates is how often the perceptron changed w"),
    ("analysis/bounds.py", "the m samples are drawn independently"),
    ("analysis/bounds.py", "min_{‖w‖≤B} L(w)"),
    ("analysis/bounds.py", "smallest m with"),
    ("cli/demonstration.py", "Fitted in {}. The certificate, recomputed"),
    ("cli/demonstration.py", "2. No hyperplane, and why"),
    ("cli/demonstration.py", "4. What the margin promises"),
    ("cli/estimator_options.py", "The relative duality gap to prove."),
    ("cli/validation.py", "Exact leave-one-out or k-fold cross-validation."),
    ("io/_atomic.py", "Cannot write"),
    ("io/_model_files.py", "This is no model file"),
    ("plot/curves.py", "0–1: 1 if z ≤ 0"),
    ("plot/samples.py", "wrong: z ≤ 0"),
    ("plot/samples.py", "on or outside it: z ≥ 1"),
    ("html_report/charts.py", "wrong: yF ≤ 0"),
    ("html_report/templates/page.html.j2", "What the margin promises"),
    ("html_report/templates/boundary.html.j2", "The thick line is F = 0"),
    ("html_report/templates/page.html.j2", "The certificate"),
    ("html_report/templates/page.html.j2", "How the proof grew"),
    ("html_report/templates/asked.html.j2", "the relative duality gap to prove"),
    ("solvers/interior/interior_point.py", "InteriorPoint takes up to {} samples"),
    ("solvers/active_set.py", "ActiveSet takes up to {} samples"),
    ("io/_model/fitted.py", "a classifier has at least two classes"),
    ("io/_model_files.py", "{} does not say {}, so this is no model file"),
    ("io/_model/parameters.py", "{} cannot be read"),
)
