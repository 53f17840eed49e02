import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bindingLibrary,
  CelCompileError,
  CelCostError,
  celTypes,
  createEnvironment,
  jsonOfValue,
  listExtensionLibrary,
  listLibrary,
  listType,
  optionalLibrary,
  regexLibrary,
  setLibrary,
  stringLibrary,
  twoVariableLibrary,
} from './mod.ts'

const environment = createEnvironment({
  variables: { x: celTypes.int, o: celTypes.dyn, l: listType(celTypes.string) },
  libraries: [
    bindingLibrary,
    listExtensionLibrary,
    listLibrary,
    optionalLibrary,
    regexLibrary,
    setLibrary,
    stringLibrary,
    twoVariableLibrary,
  ],
})
const bindings = { x: 3, o: { a: { b: [1, 2, 'x'] }, n: null }, l: ['a', 'bb', 'ccc'] }

test('expressions give the results that the language defines', () => {
  const table: readonly (readonly [string, unknown])[] = [
    ['x + 1 == 4 && 2.0 == dyn(2) && 1u < 2', true],
    ['o.a.b[1]', 2],
    ['l.all(e, e.size() < 4)', true],
    ['l.map(e, size(e) > 1, e + "!")', ['bb!', 'ccc!']],
    ['l.filter(e, e != "a").size()', 2],
    ['l.exists_one(e, e == "a")', true],
    ['has(o.a.c) || has(o.a.b)', true],
    ['o.?a.?b[?0].orValue(5)', 1],
    ['o.?z.?b[?0].orValue(5)', 5],
    ['[?o.?z, ?o.?n]', [null]],
    ['cel.bind(y, x + 1, y * y)', 16],
    ['cel.bind(y, l.map(e, e), [1, 2].map(z, y.size()))', [3, 3]],
    ['l.exists(i, e, i == 1 && e == "bb")', true],
    ['{"a": 1}.transformMap(k, v, v + 1)', { a: 2 }],
    ['optional.of(5).optMap(v, v + 1).value()', 6],
    ["'%s is %d, %.2f, %x'.format([dyn('a'), 3, 1.5, 255])", 'a is 3, 1.50, ff'],
    ["'%.101e'.format([1.5]).size() > 100", true],
    ['"äöü".substring(1, 2) + "a,b".split(",")[1]', 'öb'],
    ['"aXbX".replace("X", "-", 1)', 'a-bX'],
    ['"abcabc".find("[bc]+") + "/" + "abcabc".findAll("c").join("+")', 'bc/c+c'],
    ['l.sortBy(e, -size(e))', ['ccc', 'bb', 'a']],
    ['[3, 1, 2].sort() == [1, 2, 3] && [1, 1].distinct().size() == 1', true],
    ['[[1], [2]].flatten().sum()', 3],
    ['sets.equivalent([1, 2], [2, 1, 1])', true],
    ['timestamp("2020-02-29T01:02:03Z").getDayOfYear()', 59],
    ['timestamp("2020-01-01T00:00:00Z") + duration("1h30m")', '2020-01-01T01:30:00Z'],
    ['string(duration("90s"))', '90s'],
    ['type(1) == int && type([]) == list', true],
    ['b"\\x61\\377".size() + r"\\d".size()', 4],
    ['"\\u00e4\\n".size()', 2],
    ['-7 / 2 * 10 + -7 % 2', -31],
  ]
  for (const [text, expected] of table) {
    const { value } = environment.compile(text).evaluate(bindings)
    assert.deepEqual(jsonOfValue(value), expected, text)
  }
})

test('an error that one operand hides does not count', () => {
  for (const text of [
    '1 / 0 == 1 || true',
    'true || o.z.z',
    '!(o.z.z && false)',
    '["a", "b"].exists(e, e == "b" || int(e) > 0)',
  ]) {
    assert.equal(environment.compile(text).evaluate(bindings).value, true, text)
  }
})

test('an expression that cannot be evaluated says why', () => {
  const table: readonly (readonly [string, string])[] = [
    ['o.a.c', 'no such key: c'],
    ['l[7]', 'index out of bounds: 7'],
    ['x / 0', 'division by zero'],
    ['x % 0', 'modulus by zero'],
    ['9223372036854775807 + x', 'integer overflow'],
    ['uint(-1)', 'unsigned integer overflow'],
    ['o + 1', 'no such overload'],
    ['optional.none().value()', 'optional.none() dereference'],
    ['[].max()', 'max called on empty list'],
    ['{"a": 1, "a": 2}', 'Failed with repeated key: a'],
  ]
  for (const [text, message] of table) {
    const program = environment.compile(text)
    assert.throws(() => program.evaluate(bindings), { name: 'CelRuntimeError', message }, text)
  }
})

test('an expression that does not compile shows the place', () => {
  const table: readonly (readonly [string, string])[] = [
    ['y', "ERROR: <input>:1:1: undeclared reference to 'y' (in container '')\n | y\n | ^"],
    [
      'foo(x)',
      "ERROR: <input>:1:4: undeclared reference to 'foo' (in container '')\n | foo(x)\n | ...^",
    ],
    [
      'x + "a"',
      "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | x + \"a\"\n | ..^",
    ],
    [
      '[1, "a"]',
      "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, \"a\"]\n | ....^",
    ],
    ['x.y', "ERROR: <input>:1:2: type 'int' does not support field selection\n | x.y\n | .^"],
    ['has(x)', 'ERROR: <input>:1:5: invalid argument to has() macro\n | has(x)\n | ....^'],
    [
      '"x".matches("(")',
      'ERROR: <input>:1:13: invalid matches argument\n | "x".matches("(")\n | ............^',
    ],
    [
      'x.all(e, true)',
      "ERROR: <input>:1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)\n | x.all(e, true)\n | ^",
    ],
  ]
  for (const [text, message] of table) {
    assert.throws(() => environment.compile(text), { name: 'CelCompileError', message }, text)
  }
  assert.throws(() => environment.compile('1 +'), CelCompileError)
  assert.throws(() => environment.compile('('.repeat(10_000)), CelCompileError)
  assert.throws(() => environment.compile(Array(5_000).fill('x').join('+')), CelCompileError)
})

test('evaluation costs as much as upstream counts', () => {
  const table: readonly (readonly [string, number])[] = [
    ['x + 1 == 4', 3],
    ['o.a.b[1] == 2', 5],
    ['has(o.a.c)', 2],
    ['x in [1, 2, 3]', 1],
    ['l.all(e, true)', 11],
    ['true ? x : 1', 0],
  ]
  for (const [text, cost] of table) {
    assert.equal(environment.compile(text).evaluate(bindings).cost, cost, text)
  }
})

test('an expression that costs too much is ended, whatever it does', () => {
  const nested = '[1,2,3,4,5,6,7,8,9,10]'
  const program = environment.compile(
    `${nested}.all(a, ${nested}.all(b, ${nested}.all(c, ${nested}.all(d, ${nested}.all(e, ${nested}.all(f, true))))))`,
  )
  assert.throws(() => program.evaluate(bindings, { costLimit: 10_000 }), CelCostError)
  const slow = environment.compile(
    '("a" + "a".replace("a", "aaaaaaaaaaaaaaaaaaaa") + "b").matches("(a+)+$")',
  )
  assert.equal(slow.evaluate(bindings).value, false)
})
