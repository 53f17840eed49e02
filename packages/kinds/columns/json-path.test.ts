import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evaluateJsonPath, parseJsonPath } from './json-path.ts'

const object = {
  metadata: { labels: { 'app.kubernetes.io/name': 'web' } },
  spec: {
    list: ['a', 'b', 'c'],
    sizes: { small: 1, large: 9 },
    none: null,
    ports: [
      { name: 'http', port: 80 },
      { name: 'https', port: 443, tls: true },
    ],
  },
}

test('a path leads to the values that kubectl finds with it', () => {
  const table: [path: string, values: unknown[]][] = [
    ['.spec.sizes.small', [1]],
    ['$.spec.sizes.small', [1]],
    ['spec.sizes.small', [1]],
    ['.spec.missing.deeper', []],
    ['.spec.none', [null]],
    ['.spec.none.deeper', []],
    [String.raw`.metadata.labels.app\.kubernetes\.io/name`, ['web']],
    [String.raw`.metadata.labels['app\.kubernetes\.io/name']`, ['web']],
    ['.spec.list[0]', ['a']],
    ['.spec.list[-1]', ['c']],
    ['.spec.list[-2]', ['b']],
    ['.spec.list[-1:]', ['c']],
    ['.spec.list[0:2]', ['a', 'b']],
    ['.spec.list[::2]', ['a', 'c']],
    ['.spec.list[*]', ['a', 'b', 'c']],
    ['.spec.list[0,2]', ['a', 'c']],
    ['.spec.sizes.*', [1, 9]],
    ["['spec'].sizes['small','large']", [1, 9]],
    ['..port', [80, 443]],
    ['.spec.ports[?(@.name=="https")].port', [443]],
    ["..ports[?(@.name=='http')].port", [80]],
    ['.spec.ports[?(@.port>100)].name', ['https']],
    ['.spec.ports[?(@.port!=80)].name', ['https']],
    ['.spec.ports[?(@.tls==true)].name', ['https']],
    ['.spec.ports[?(@.tls)].name', ['https']],
  ]
  for (const [path, values] of table) {
    assert.deepEqual(evaluateJsonPath(parseJsonPath(path), object), values, path)
  }
})

test('a path that does not fit the value is an error', () => {
  for (const path of ['.spec.list[5]', '.spec.sizes[0]', '.spec.ports[?(@.port>"a")].name']) {
    assert.throws(() => evaluateJsonPath(parseJsonPath(path), object), RangeError, path)
  }
})

test('a path that cannot be read is an error', () => {
  for (const path of ['.spec.list[', '.spec.list[a]', '.spec.list[0:1:0]', '.a[?(@.b=~"c")]']) {
    assert.throws(() => parseJsonPath(path), RangeError, path)
  }
})
