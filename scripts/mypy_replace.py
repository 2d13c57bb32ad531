"""A mypy plugin that checks the keyword arguments of ``fateforger.values.replace`` against the fields of its value,
and those of the ``with_`` methods of ``Session`` against the fields of their group.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.nodes import ARG_NAMED_OPT, ARG_POS, CallExpr, MemberExpr, TypeInfo, Var
from mypy.plugin import FunctionSigContext, MethodSigContext, Plugin
from mypy.typeops import map_type_from_supertype
from mypy.types import FunctionLike, Instance, Type, TypeVarType, UnionType, get_proper_type

REPLACE = "fateforger.values.replace"
GROUP = "fateforger.session.model.Session.with_"


class ReplacePlugin(Plugin):
    """Gives each call of ``replace`` a signature with the fields of its first argument."""

    def get_function_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        return _replace_signature if fullname == REPLACE else None

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        return _group_signature if fullname.startswith(GROUP) else None


def _replace_signature(context: FunctionSigContext) -> FunctionLike:
    default = context.default_signature
    if not context.args or not context.args[0]:
        return default
    # Mypy has not inferred the argument yet, so it is checked here.
    model = get_proper_type(context.api.get_expression_type(context.args[0][0]))
    if isinstance(model, TypeVarType):
        model = get_proper_type(model.upper_bound)
    kinds = [get_proper_type(each) for each in model.items] if isinstance(model, UnionType) else [model]
    instances = [each for each in kinds if isinstance(each, Instance)]
    if len(instances) != len(kinds) or not instances:
        return default
    fields = _fields(instances[0])
    for other in instances[1:]:
        more = _fields(other)
        fields = {name: kind for name, kind in fields.items() if name in more}
    return default.copy_modified(
        arg_types=[default.arg_types[0], *fields.values()],
        arg_kinds=[ARG_POS, *[ARG_NAMED_OPT] * len(fields)],
        arg_names=[default.arg_names[0], *fields],
    )


def _group_signature(context: MethodSigContext) -> FunctionLike:
    """Give ``Session.with_x`` the fields of the group ``x``."""
    session, default = get_proper_type(context.type), context.default_signature
    if not isinstance(session, Instance) or not isinstance(context.context, CallExpr):
        return default
    callee = context.context.callee
    group = session.type.get(callee.name.removeprefix("with_")) if isinstance(callee, MemberExpr) else None
    kind = get_proper_type(group.type) if group is not None and group.type is not None else None
    if not isinstance(kind, Instance):
        return default
    fields = _fields(kind)
    return default.copy_modified(
        arg_types=list(fields.values()),
        arg_kinds=[ARG_NAMED_OPT] * len(fields),
        arg_names=list(fields),
    )


def _fields(instance: Instance) -> dict[str, Type]:
    """Return the type of each field of a model or data class, those of its bases first."""
    found: dict[str, Type] = {}
    for info in reversed(instance.type.mro):
        for name, symbol in info.names.items():
            if isinstance(symbol.node, Var) and _is_field(info, name, symbol.node) and symbol.node.type is not None:
                found[name] = map_type_from_supertype(symbol.node.type, instance.type, info)
    return found


def _is_field(info: TypeInfo, name: str, variable: Var) -> bool:
    if "dataclass" in info.metadata:
        return not variable.is_classvar
    is_model = any(base.fullname == "pydantic.main.BaseModel" for base in info.mro)
    return is_model and not variable.is_classvar and not name.startswith(("_", "model_"))


def plugin(_version: str) -> type[Plugin]:
    return ReplacePlugin
