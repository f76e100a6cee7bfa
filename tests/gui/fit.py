"""Looks for controls that are cut off: outside of what their parents show, or smaller than they need."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QLabel, QLineEdit, QPlainTextEdit, QWidget

_LOOKED_AT = (QAbstractButton, QLabel, QLineEdit, QPlainTextEdit)


def cut_off(top: QWidget) -> list[str]:
    """A line for every visible control in ``top`` that is cut off or lies over another one."""
    seen = [
        widget
        for kind in _LOOKED_AT
        for widget in top.findChildren(kind)
        if widget.isVisible() and not _scrolls(widget, top)
    ]
    bad = [f"{_name(widget)} is cut" for widget in seen if _is_cut(widget, top)]
    bad += [f"{_name(widget)} is too low" for widget in seen if _is_too_low(widget)]
    places = [(widget, _place(widget, top)) for widget in seen]
    for position, (first, here) in enumerate(places):
        for second, there in places[position + 1 :]:
            related = first.isAncestorOf(second) or second.isAncestorOf(first)
            if not related and here.intersects(there):
                bad.append(f"{_name(first)} lies over {_name(second)}")
    return bad


def _is_cut(widget: QWidget, top: QWidget) -> bool:
    place = _place(widget, top)
    parent = widget.parentWidget()
    inside = _place(parent, top) if parent is not None and parent is not top else top.rect()
    return not (inside.contains(place) and top.rect().contains(place))


def _is_too_low(widget: QWidget) -> bool:
    needed = widget.heightForWidth(widget.width()) if widget.hasHeightForWidth() else widget.minimumSizeHint().height()
    return not isinstance(widget, QPlainTextEdit) and widget.height() < needed


def _place(widget: QWidget, top: QWidget) -> QRect:
    return QRect(widget.mapTo(top, QPoint(0, 0)), widget.size())


def _scrolls(widget: QWidget, top: QWidget) -> bool:
    parent = widget.parentWidget()
    while parent is not None and parent is not top:
        if isinstance(parent, QAbstractScrollArea):
            return True
        parent = parent.parentWidget()
    return False


def _name(widget: QWidget) -> str:
    text = getattr(widget, "text", None)
    return f"{type(widget).__name__} {text() if callable(text) else ''!r} {widget.accessibleName()!r}"
