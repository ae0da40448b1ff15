"""How estimators look in notebooks: scikit-learn's box, and what is proved below it."""

import os
from typing import Any

from maxmargin.notebook import box


class ShownInNotebooks:
    """Mixin: a line with the certificate below scikit-learn's box, and a link to our docs in it.

    The link leads to the folder or address in the environment variable ``MAXMARGIN_DOCS``, where the site that ``python -m docs``
    builds is; without it there is none.
    """

    _doc_link_module = "maxmargin"

    def _get_doc_link(self) -> str:
        place = os.environ.get("MAXMARGIN_DOCS", "").rstrip("/")
        return f"{place}/api.html#maxmargin.{type(self).__name__}" if place else ""

    def _repr_html_inner(self) -> str:
        return f"{super()._repr_html_inner()}{self._proved()}"  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in shown:
            shown["text/html"] += self._proved()
        return shown

    def _proved(self) -> str:
        """The certificate's sentence, if there is one."""
        certificate = getattr(self, "certificate_", None)
        return "" if certificate is None else box(str(certificate), {}, certificate.is_certified)
