import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isStatusError } from '@skerry/api'
import { decodeBody, inBodyOrder, objectOfBody } from './body.ts'
import { encodeCanonical, spliceResourceVersion } from './canonical.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (value: Uint8Array): string => new TextDecoder().decode(value)

test('stored bytes start with apiVersion, kind and metadata and never carry a resourceVersion', () => {
  const object = {
    spec: { b: 1, a: [{ y: null, x: undefined, é: '"' }] },
    metadata: { uid: 'u', name: 'n', resourceVersion: '7' },
    kind: 'Pod',
    apiVersion: 'v1',
  }
  assert.equal(
    encodeCanonical(object),
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"n","uid":"u"},"spec":{"a":[{"y":null,"é":"\\""}],"b":1}}',
  )
})

test('the resource version is spliced in as the first member of metadata', () => {
  const cases: [object, string][] = [
    [
      { name: 'n' },
      '{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"42","name":"n"}}',
    ],
    [{}, '{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"42"}}'],
  ]
  for (const [metadata, want] of cases) {
    const stored = bytes(encodeCanonical({ apiVersion: 'v1', kind: 'Pod', metadata }))
    assert.equal(text(spliceResourceVersion(stored, 42)), want)
  }
})

test('any object keeps its value through encoding, and equal objects are equal bytes', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (spec) => {
      const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' }, spec }
      const encoded = encodeCanonical(object)
      assert.deepEqual(JSON.parse(encoded), JSON.parse(JSON.stringify(object)))
      const reversed = Object.fromEntries(Object.entries(spec).toReversed())
      const shuffled = { ...object }
      shuffled.spec = reversed
      assert.equal(encodeCanonical(shuffled), encoded)
    }),
  )
})

test('duplicate fields are found with their paths, only when asked for', () => {
  const body = bytes(
    '{"spec":{"containers":[{"name":"a","name":"b\\"","env":{"x":1}},{"x":[1,{"y":1,"y":{"z":2}}]}]},"spec\\u0061":1,"speca":2}',
  )
  const found = decodeBody(body, 'application/json', { isStrict: true })
  assert.deepEqual(found.duplicates, [
    'duplicate field "spec.containers[0].name"',
    'duplicate field "spec.containers[1].x[1].y"',
    'duplicate field "speca"',
  ])
  assert.deepEqual(decodeBody(body, 'application/json').duplicates, [])
})

test('findings stand in the order of the body', () => {
  const body = bytes('{"spec":{"odd":1,"replicas":2,"replicas":3,"other":{"x":1}}}')
  const findings = ['duplicate field "spec.replicas"', 'unknown field "spec.odd"']
  assert.deepEqual(inBodyOrder(body, [...findings, 'unknown field "spec.other.x"']), [
    'unknown field "spec.odd"',
    'duplicate field "spec.replicas"',
    'unknown field "spec.other.x"',
  ])
})

test('YAML is read as YAML 1.1 without dates, with findings for duplicates', () => {
  const source = 'a: yes\nb: 0755\nc: 2001-01-01\nd: "yes"\n1: x\ne: &x {k: v}\nf: *x\na: no\n'
  const { value, duplicates } = decodeBody(bytes(source), 'application/yaml', { isStrict: true })
  assert.deepEqual(value, {
    '1': 'x',
    a: false,
    b: 493,
    c: '2001-01-01',
    d: 'yes',
    e: { k: 'v' },
    f: { k: 'v' },
  })
  assert.deepEqual(duplicates, ['yaml: unmarshal errors:\n  line 8: key "a" already set in map'])
})

const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
  .split('')
  .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(',')}]`)
  .join('\n')}`

test('mistakes that upstream forgives are read, and others are refused in its words', () => {
  const broken = new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])
  assert.deepEqual(decodeBody(broken, 'application/json').value, { a: '\ufffd' })
  assert.deepEqual(decodeBody(bytes('a: 1\n---\nb: 2\n'), 'application/yaml').value, { a: 1 })
  const table: readonly [string, string][] = [
    ['', 'unexpected end of JSON input (<empty>)'],
    ['{"metadata":', 'unexpected end of JSON input ({"metadata":)'],
    ['{"a":1}x', `invalid character 'x' after top-level value ({"a":1}x)`],
    ['{"a":"\n"}', String.raw`invalid character '\n' in string literal ({"a":"` + '\n"})'],
    ['x', `invalid character 'x' looking for beginning of value (78)`],
  ]
  for (const [text, wanted] of table) {
    assert.throws(
      () => {
        const body = bytes(text)
        const options = { typeName: 'ConfigMap' }
        objectOfBody(decodeBody(body, 'application/json', options), body, options)
      },
      {
        message: `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: ${wanted}`,
      },
    )
  }
})

test('hostile and broken bodies are refused as a bad request', () => {
  const cases: [string, Uint8Array, string][] = [
    ['truncated', bytes('{"a":'), 'application/json'],
    ['trailing text', bytes('{"a":1} x'), 'application/json'],
    ['empty', bytes(''), 'application/json'],
    ['a byte order mark', bytes('\ufeff{}'), 'application/json'],
    ['deep JSON', bytes('['.repeat(100_000) + ']'.repeat(100_000)), 'application/json'],
    ['deep YAML', bytes('['.repeat(5_000)), 'application/yaml'],
    ['alias bomb', bytes(bomb), 'application/yaml'],
    ['infinity', bytes('a: .inf'), 'application/yaml'],
    ['bad YAML', bytes('a: b: c'), 'application/apply-patch+yaml'],
  ]
  for (const [name, body, type] of cases) {
    assert.throws(
      () => decodeBody(body, type),
      (error) => isStatusError(error, 'BadRequest'),
      name,
    )
  }
  const long = bytes(`"${'x'.repeat(100)}"`)
  assert.throws(
    () => decodeBody(long, 'application/json', { bytesMax: 50 }),
    (error) => isStatusError(error, 'RequestEntityTooLarge'),
  )
  assert.throws(
    () => decodeBody(long, 'text/plain'),
    (error) => isStatusError(error, 'UnsupportedMediaType'),
  )
})

test('a key named __proto__ is a key', () => {
  const { value } = decodeBody(bytes('__proto__: {a: 1}\n'), 'application/yaml')
  assert.equal(JSON.stringify(value), '{"__proto__":{"a":1}}')
})
