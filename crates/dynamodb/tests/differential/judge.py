"""A second opinion on expressions: reads cases, one JSON object a line, and prints its verdicts.

Written from the service's guide alone, apart from the Rust code, with nothing but the standard
library, and made to be read: values stay the JSON that they come as.
"""

import base64
import decimal
import json
import re
import sys

decimal.getcontext().prec = 400
ORDERED = ("S", "N", "B")
SETS = ("SS", "NS", "BS")
TOKEN = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*|[#:][A-Za-z0-9_]+|[0-9]+|<>|<=|>=|[-+()\[\],.=<>])")


class Refused(Exception):
    """The expression is not allowed, whatever the item is."""


class Failed(Exception):
    """The update does not fit the item."""


# --- Values


def kind(value):
    return next(iter(value))


def content(value):
    """What a value holds, in a form in which equal things are equal."""
    of, inner = kind(value), value[kind(value)]
    if of == "N":
        return decimal.Decimal(inner)
    if of == "B":
        return base64.b64decode(inner)
    if of == "S":
        return inner.encode()
    if of == "SS":
        return frozenset(text.encode() for text in inner)
    if of == "NS":
        return frozenset(decimal.Decimal(text) for text in inner)
    if of == "BS":
        return frozenset(base64.b64decode(text) for text in inner)
    if of == "L":
        return [(kind(each), content(each)) for each in inner]
    if of == "M":
        return {name: (kind(each), content(each)) for name, each in inner.items()}
    return inner


def same(a, b):
    return kind(a) == kind(b) and content(a) == content(b)


def number_text(number):
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def printed(value):
    """A value as the service prints it, with sets in the order of their elements."""
    of, inner = kind(value), value[kind(value)]
    if of == "N":
        return {of: number_text(decimal.Decimal(inner))}
    if of == "SS":
        return {of: sorted(inner, key=lambda text: text.encode())}
    if of == "NS":
        return {of: [number_text(each) for each in sorted(map(decimal.Decimal, inner))]}
    if of == "BS":
        return {of: sorted(inner, key=base64.b64decode)}
    if of == "L":
        return {of: [printed(each) for each in inner]}
    if of == "M":
        return {of: {name: printed(each) for name, each in inner.items()}}
    return value


def storable(number):
    sign, digits, exponent = number.normalize().as_tuple()
    if number == 0:
        return True
    leading = len(digits) + exponent - 1
    return len(digits) <= 38 and -130 <= leading <= 125


def number_size(text):
    number = decimal.Decimal(text).normalize()
    if number == 0:
        return 1
    sign, digits, exponent = number.as_tuple()
    # As pairs of digits around the point.
    if exponent % 2:
        digits = digits + (0,)
    pairs = (len(digits) + 1) // 2
    return 1 + pairs + sign


def size_of(value):
    of, inner = kind(value), value[kind(value)]
    if of == "S":
        return len(inner.encode())
    if of == "N":
        return number_size(inner)
    if of == "B":
        return len(base64.b64decode(inner))
    if of == "SS":
        return sum(len(text.encode()) for text in inner)
    if of == "NS":
        return sum(map(number_size, inner))
    if of == "BS":
        return sum(len(base64.b64decode(text)) for text in inner)
    if of == "L":
        return 3 + sum(1 + size_of(each) for each in inner)
    if of == "M":
        return 3 + len(inner) + item_size(inner)
    return 1


def item_size(item):
    return sum(len(name.encode()) + size_of(value) for name, value in item.items())


# --- Reading expressions


class Reader:
    def __init__(self, text, names, values):
        self.tokens = TOKEN.findall(text)
        if "".join(self.tokens) != re.sub(r"\s", "", text):
            raise Refused("characters")
        self.at, self.names, self.values = 0, names, values

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def is_word(self, *words):
        return self.peek().upper() in words

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, token):
        if self.peek().upper() != token:
            raise Refused(f"{token} expected")
        self.next()

    def name(self):
        token = self.next()
        return self.names[token] if token.startswith("#") else token

    def path(self):
        steps = [self.name()]
        while self.peek() in (".", "["):
            if self.next() == ".":
                steps.append(self.name())
            else:
                steps.append(int(self.next()))
                self.expect("]")
        return ("path", tuple(steps))

    def operand(self):
        if self.peek() == "(":
            self.next()
            inner = self.operand()
            self.expect(")")
            return inner
        if self.peek().startswith(":"):
            return ("value", self.values[self.next()])
        if self.peek(1) == "(":
            return self.call()
        return self.path()

    def call(self):
        function = self.next()
        arguments = []
        self.expect("(")
        while True:
            arguments.append(self.operand())
            if self.peek() != ",":
                break
            self.next()
        self.expect(")")
        return ("call", function, arguments)

    def condition(self):
        parts = [self.conjunction()]
        while self.is_word("OR"):
            self.next()
            parts.append(self.conjunction())
        return ("any", parts) if len(parts) > 1 else parts[0]

    def conjunction(self):
        parts = [self.negation()]
        while self.is_word("AND"):
            self.next()
            parts.append(self.negation())
        return ("all", parts) if len(parts) > 1 else parts[0]

    def negation(self):
        if self.is_word("NOT"):
            self.next()
            return ("not", self.negation())
        if self.peek() == "(":
            # A condition in parentheses, unless it is only a side of one.
            start = self.at
            self.next()
            try:
                inner = self.condition()
                self.expect(")")
                if inner[0] != "call" or not self.is_test():
                    return inner
            except (Refused, IndexError):
                pass
            self.at = start
        return self.test()

    def is_test(self):
        return self.peek() in ("=", "<>", "<", "<=", ">", ">=") or self.is_word("IN", "BETWEEN")

    def test(self):
        left = self.operand()
        if self.peek() in ("=", "<>", "<", "<=", ">", ">="):
            return ("compare", self.next(), left, self.operand())
        if self.is_word("BETWEEN"):
            self.next()
            low = self.operand()
            self.expect("AND")
            return ("between", left, low, self.operand())
        if self.is_word("IN"):
            self.next()
            return ("in", left, self.call_arguments())
        if left[0] == "call":
            return left
        raise Refused("no test")

    def call_arguments(self):
        self.at -= 1
        return self.call()[2]

    def term(self):
        if self.peek() == "(":
            self.next()
            inner = self.sum()
            self.expect(")")
            return inner
        return self.operand()

    def sum(self):
        left = self.term()
        if self.peek() in ("+", "-"):
            return ("sum", self.next(), left, self.term())
        return left

    def update(self):
        actions = []
        while self.peek():
            section = self.next().upper()
            while True:
                path = self.path()[1]
                if section == "SET":
                    self.expect("=")
                    actions.append((section, path, self.sum()))
                elif section == "REMOVE":
                    actions.append((section, path, None))
                else:
                    actions.append((section, path, self.values[self.next()]))
                if self.peek() != ",":
                    break
                self.next()
        return actions

    def projection(self):
        paths = [self.path()[1]]
        while self.peek() == ",":
            self.next()
            paths.append(self.path()[1])
        return paths


# --- What is refused before any item is seen


def fixed_kind(operand):
    if operand[0] == "value":
        return kind(operand[1])
    return "N" if operand[0] == "call" else None


def check_operands(operands, ordered=False):
    first = operands[0]
    if first[0] == "path" and first in operands[1:]:
        raise Refused("the same operand")
    for operand in operands:
        if operand[0] == "call":
            check_call(operand, False)
        if ordered and fixed_kind(operand) not in ORDERED + (None,):
            raise Refused("no order")


def check_call(call, as_condition):
    _, function, arguments = call
    counts = {"attribute_exists": 1, "attribute_not_exists": 1, "size": 1}
    if len(arguments) != counts.get(function, 2):
        raise Refused("number of operands")
    if (function == "size") == as_condition:
        raise Refused("misused")
    check_operands(arguments)
    if function == "size" and fixed_kind(arguments[0]) in ("N", "BOOL", "NULL"):
        raise Refused("size")
    if function.startswith("attribute_") and function.endswith("exists"):
        if arguments[0][0] != "path":
            raise Refused("no path")
    if function == "begins_with" and any(fixed_kind(a) not in ("S", "B", None) for a in arguments):
        raise Refused("begins_with")
    if function == "attribute_type":
        of = arguments[1]
        if of[0] != "value" or kind(of[1]) != "S":
            raise Refused("attribute_type")
        if of[1]["S"] not in ("S", "N", "B", "BOOL", "NULL", "M", "L") + SETS:
            raise Refused("no type")


def check_condition(node):
    if node[0] in ("any", "all"):
        for part in node[1]:
            check_condition(part)
    elif node[0] == "not":
        check_condition(node[1])
    elif node[0] == "compare":
        check_operands([node[2], node[3]], node[1] not in ("=", "<>"))
    elif node[0] == "between":
        check_operands(list(node[1:]), True)
        low, high = node[2], node[3]
        if low[0] == high[0] == "value":
            if kind(low[1]) != kind(high[1]) or content(low[1]) > content(high[1]):
                raise Refused("bounds")
    elif node[0] == "in":
        check_operands([node[1]] + node[2])
    else:
        check_call(node, True)


def check_apart(paths):
    for at, two in enumerate(paths):
        for one in paths[:at]:
            for a, b in zip(one, two):
                if type(a) is not type(b):
                    raise Refused("conflict")
                if a != b:
                    break
            else:
                raise Refused("overlap")


def check_set(node):
    if node[0] == "sum":
        for side in node[2:]:
            check_set(side)
            if side[0] == "value" and kind(side[1]) != "N":
                raise Refused("sum")
    elif node[0] == "call":
        for argument in node[2]:
            check_set(argument)
        if node[1] == "list_append":
            if any(a[0] == "value" and kind(a[1]) != "L" for a in node[2]):
                raise Refused("list_append")
        elif node[2][0][0] != "path":
            raise Refused("if_not_exists")


def check_update(actions):
    check_apart([path for _, path, _ in actions])
    for section, _, value in actions:
        if section == "SET":
            check_set(value)
        elif section == "ADD" and kind(value) not in SETS + ("N",):
            raise Refused("ADD")
        elif section == "DELETE" and kind(value) not in SETS:
            raise Refused("DELETE")


# --- What is true of an item


def find(item, path):
    value = {"M": item}
    for step in path:
        inner = value.get("L" if isinstance(step, int) else "M")
        if inner is None:
            return None
        if isinstance(step, int):
            value = inner[step] if step < len(inner) else None
        else:
            value = inner.get(step)
        if value is None:
            return None
    return value


def length(value):
    of = kind(value)
    if of == "S":
        return len(value["S"].encode("utf-16-le")) // 2
    if of == "B":
        return len(base64.b64decode(value["B"]))
    if of in SETS + ("L", "M"):
        return len(value[of])
    return None


def evaluate(operand, item):
    if operand[0] == "value":
        return operand[1]
    if operand[0] == "path":
        return find(item, operand[1])
    inner = evaluate(operand[2][0], item)
    size = None if inner is None else length(inner)
    return None if size is None else {"N": str(size)}


def compare(how, a, b):
    if a is None or b is None:
        return how == "<>"
    if how in ("=", "<>"):
        return same(a, b) == (how == "=")
    if kind(a) != kind(b) or kind(a) not in ORDERED:
        return False
    a, b = content(a), content(b)
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[how]


def contains(whole, part):
    of = kind(whole)
    if of in ("S", "B") and kind(part) == of:
        return content(part) in content(whole)
    if of in SETS and kind(part) == of[0]:
        return content(part) in content(whole)
    return of == "L" and any(same(each, part) for each in whole["L"])


def holds(node, item):
    if node[0] == "any":
        return any([holds(part, item) for part in node[1]])
    if node[0] == "all":
        return all([holds(part, item) for part in node[1]])
    if node[0] == "not":
        return not holds(node[1], item)
    if node[0] == "compare":
        return compare(node[1], evaluate(node[2], item), evaluate(node[3], item))
    if node[0] == "between":
        value, low, high = [evaluate(operand, item) for operand in node[1:]]
        return compare(">=", value, low) and compare("<=", value, high)
    if node[0] == "in":
        value = evaluate(node[1], item)
        return any(compare("=", value, evaluate(other, item)) for other in node[2])
    _, function, arguments = node
    values = [evaluate(argument, item) for argument in arguments]
    if function == "attribute_exists":
        return values[0] is not None
    if function == "attribute_not_exists":
        return values[0] is None
    if None in values:
        return False
    if function == "attribute_type":
        return kind(values[0]) == values[1]["S"]
    if function == "contains":
        return contains(*values)
    a, b = values
    return kind(a) == kind(b) and kind(a) in ("S", "B") and content(a).startswith(content(b))


# --- What becomes of an item


def project(item, paths):
    """The leaves that paths lead to, put back into maps and lists of the same shape."""
    tree = {}
    for path in paths:
        if find(item, path) is None:
            continue
        node = tree
        for step in path:
            node = node.setdefault(step, {})

    def take(value, node):
        if not node:
            return value
        if "L" in value:
            return {"L": [take(value["L"][index], node[index]) for index in sorted(node)]}
        return {"M": {name: take(value["M"][name], node[name]) for name in node}}

    return take({"M": item}, tree)["M"] if tree else {}


MISSING = "The provided expression refers to an attribute that does not exist in the item"
OPERAND = "An operand in the update expression has an incorrect data type"
PATH = "The document path provided in the update expression is invalid for update"
NUMBER = "a number that can't be stored"


def total(how, a, b):
    number = content(a) + content(b) if how == "+" else content(a) - content(b)
    if not storable(number):
        raise Failed(NUMBER)
    return {"N": number_text(number)}


def set_value(node, item):
    if node[0] == "value":
        return node[1]
    if node[0] == "path":
        value = find(item, node[1])
        if value is None:
            raise Failed(MISSING)
        return value
    if node[0] == "sum":
        sides = []
        for side in node[2:]:
            sides.append(set_value(side, item))
            if kind(sides[-1]) != "N":
                raise Failed(OPERAND)
        return total(node[1], *sides)
    _, function, (first, second) = node
    if function == "if_not_exists":
        value = find(item, first[1])
        return set_value(second, item) if value is None else value
    lists = []
    for argument in (first, second):
        lists.append(set_value(argument, item))
        if kind(lists[-1]) != "L":
            raise Failed(OPERAND)
    return {"L": lists[0]["L"] + lists[1]["L"]}


def union(old, value):
    if old is None:
        return value
    of = kind(value)
    if kind(old) != of:
        raise Failed(OPERAND)
    if of == "N":
        return total("+", old, value)
    elements = old[of] + [each for each in value[of] if not contains(old, {of[0]: each})]
    return {of: elements}


def without(old, value):
    """The set that is left, or None."""
    of = kind(value)
    if kind(old) != of:
        raise Failed(OPERAND)
    left = [each for each in old[of] if not contains(value, {of[0]: each})]
    return {of: left} if left else None


def update(actions, item):
    values = [set_value(v, item) if s == "SET" else v for s, _, v in actions]
    new = json.loads(json.dumps(item))
    hole = object()
    extras = {}
    lists = []
    for (section, path, _), value in zip(actions, values):
        old_parent, parent = find(item, path[:-1]), {"M": new}
        for step in path[:-1]:
            inner = parent.get("L" if isinstance(step, int) else "M", {})
            known = step < len(inner) if isinstance(step, int) else step in inner
            parent = inner[step] if known else {}
            if parent is hole:
                parent = {}
        if len(path) == 1:
            old_parent = {"M": item}
        last = path[-1]
        of = "L" if isinstance(last, int) else "M"
        if old_parent is None or of not in old_parent:
            raise Failed(PATH)
        old = find(item, path)
        if section == "ADD":
            value = union(old, value)
        elif section == "DELETE":
            value = None if old is None else without(old, value)
        if section == "DELETE" and old is None:
            continue
        place = parent[of]
        if of == "L":
            lists.append(place)
            if last < len(old_parent["L"]):
                place[last] = hole if value is None else value
            elif value is not None:
                extras.setdefault(path[:-1], (place, []))[1].append((last, value))
        elif value is None:
            place.pop(last, None)
        else:
            place[last] = value
    for place, more in extras.values():
        place.extend(value for _, value in sorted(more, key=lambda each: each[0]))
    for place in lists:
        place[:] = [each for each in place if each is not hole]
    return new


# --- Cases


def verdict(case):
    reader = Reader(case["expression"], case["names"], case["values"])
    item = case["item"]
    try:
        if case["kind"] == "condition":
            node = reader.condition()
            check_condition(node)
            return holds(node, item)
        if case["kind"] == "projection":
            paths = reader.projection()
            check_apart(paths)
            return {name: printed(value) for name, value in project(item, paths).items()}
        actions = reader.update()
        check_update(actions)
        return {name: printed(value) for name, value in update(actions, item).items()}
    except Refused:
        return "refused"
    except Failed as failure:
        return str(failure)


def main():
    with open(sys.argv[1], encoding="utf-8") as cases:
        for line in cases:
            case = json.loads(line)
            print(json.dumps({"verdict": verdict(case), "size": item_size(case["item"])}))


main()
