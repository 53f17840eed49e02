import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '../status-error.ts'
import {
  LabelSelector,
  labelSelectorOf,
  labelSelectorOfMap,
  parseLabelSelector,
} from './label-selector.ts'

const cases: { text: string; yes?: object[]; no?: object[]; prints?: string }[] = [
  { text: '', yes: [{}, { a: 'b' }] },
  { text: 'a=b', yes: [{ a: 'b' }, { a: 'b', c: '' }], no: [{}, { a: 'c' }] },
  { text: 'a==b', yes: [{ a: 'b' }], no: [{ a: '' }] },
  { text: 'a != b', yes: [{}, { a: 'c' }], no: [{ a: 'b' }], prints: 'a!=b' },
  { text: 'a', yes: [{ a: '' }], no: [{}, { b: 'a' }] },
  { text: '!a', yes: [{ b: 'x' }], no: [{ a: '' }] },
  { text: 'a in (c,b)', yes: [{ a: 'b' }], no: [{ a: 'd' }, {}], prints: 'a in (b,c)' },
  { text: 'a notin (b)', yes: [{}, { a: 'c' }], no: [{ a: 'b' }] },
  { text: 'a in (,x,,)', yes: [{ a: '' }, { a: 'x' }], no: [{}], prints: 'a in (,x)' },
  { text: 'a notin ()', yes: [{}, { a: 'b' }], no: [{ a: '' }] },
  { text: 'a=', yes: [{ a: '' }], no: [{ a: 'b' }, {}] },
  { text: 'in in (in,notin)', yes: [{ in: 'notin' }], no: [{ in: 'x' }] },
  { text: 'a>1', yes: [{ a: '2' }], no: [{ a: '1' }, { a: 'x' }, {}] },
  { text: 'a<-1', yes: undefined, prints: 'error' },
  { text: 'b=1,a=2', yes: [{ a: '2', b: '1' }], no: [{ a: '2' }], prints: 'a=2,b=1' },
  { text: 'x.io/a=b', yes: [{ 'x.io/a': 'b' }] },
]

test('a label selector selects the same labels as upstream and prints itself back', () => {
  for (const { text, yes = [], no = [], prints = text } of cases) {
    if (prints === 'error') {
      assert.throws(() => parseLabelSelector(text), text)
      continue
    }
    const selector = parseLabelSelector(text)
    assert.equal(selector.toString(), prints)
    assert.equal(parseLabelSelector(prints).toString(), prints)
    for (const labels of yes) assert.ok(selector.matches({ ...labels }), `${text} is met`)
    for (const labels of no) assert.ok(!selector.matches({ ...labels }), `${text} is not met`)
  }
})

/** The answers of Kubernetes 1.36 to the same labelSelector. */
const refusals: Record<string, string> = {
  'a in': "unable to parse requirement: found '' expected: '('",
  'a in (b': "unable to parse requirement: found '', expected: ',' or ')'",
  'a=b=c': "found '=', expected: ',' or 'end of string'",
  'a=,': "found '', expected: identifier after ','",
  '=b': "found '=', expected: !, identifier, or 'end of string'",
  'a b': "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
  'a in (b c)': "unable to parse requirement: found 'c', expected: ',' or ')'",
  'a=-b':
    "unable to parse requirement: values[0][a]: Invalid value: \"-b\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  '-a=b':
    "unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  'a>x':
    "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
  '!a=b': "found '=', expected: ',' or 'end of string'",
  'a in b': "unable to parse requirement: found 'b' expected: '('",
  'a,,b': "found ',', expected: identifier after ','",
  ',': "found ',', expected: !, identifier, or 'end of string'",
  '!': "unable to parse requirement: found '', expected: identifier",
  'a!': "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt",
}

test("a malformed label selector is refused in upstream's words", () => {
  for (const [text, message] of Object.entries(refusals)) {
    assert.throws(
      () => parseLabelSelector(text),
      (error) => isStatusError(error, 'BadRequest') && error.message === message,
      text,
    )
  }
})

test("an object's selector selects nothing if omitted, and everything if empty", () => {
  assert.ok(!labelSelectorOf(undefined).matches({ a: 'b' }))
  assert.ok(labelSelectorOf({}).matches({ a: 'b' }))
  const selector = labelSelectorOf({
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['front', 'back'] },
      { key: 'old', operator: 'DoesNotExist' },
    ],
  })
  assert.equal(selector.toString(), 'app=web,!old,tier in (back,front)')
  assert.ok(selector.matches({ app: 'web', tier: 'front' }))
  assert.ok(!selector.matches({ app: 'web', tier: 'front', old: '' }))
  assert.throws(
    () => labelSelectorOf({ matchExpressions: [{ key: 'a', operator: 'Near' }] }),
    (error) => isStatusError(error, 'BadRequest'),
  )
})

test('a label named like a method of objects is a label', () => {
  assert.ok(!parseLabelSelector('constructor').matches({}))
  assert.ok(labelSelectorOfMap({ toString: 'x' }).matches({ toString: 'x' }))
})

test('many values are read once, however many objects are looked at', () => {
  let reads = 0
  const values = new Proxy(
    Array.from({ length: 1_000 }, (_, at) => `v${at}`),
    {
      get(target, member, receiver): unknown {
        reads += 1
        return Reflect.get(target, member, receiver)
      },
    },
  )
  for (const operator of ['in', 'notin'] as const) {
    reads = 0
    const selector = new LabelSelector([{ key: 'a', operator, values }])
    for (let at = 0; at < 1_000; at += 1) {
      assert.equal(selector.matches({ a: 'v999' }), operator === 'in')
      assert.equal(selector.matches({ a: 'other' }), operator === 'notin')
    }
    assert.ok(reads < 10_000, `${reads} reads`)
  }
})
