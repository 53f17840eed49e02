import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseImage, printImage } from './image-reference.ts'

test('an image is printed as it was read, and no text takes long to refuse', () => {
  const part = fc.stringMatching(/^[a-z0-9]{1,9}([._-][a-z0-9]{1,9}){0,3}$/)
  const registry = fc.oneof(
    fc.constant(''),
    fc
      .tuple(fc.stringMatching(/^[a-z0-9]{1,9}$/), fc.nat(65_535))
      .map(([host, port]) => `${host}.example:${port}/`),
  )
  const tag = fc.oneof(fc.constant(''), fc.stringMatching(/^:[\w][\w.-]{0,20}$/))
  fc.assert(
    fc.property(registry, part, tag, (host, name, version) => {
      const image = `${host}${name}${version}`
      assert.equal(printImage(parseImage(image)), image)
    }),
  )
  for (const repeated of ['a', 'a.', 'a-', 'a_', 'a/', '-', '0:', '[:']) {
    assert.throws(() => parseImage(`${repeated.repeat(20_000)}!`), RangeError)
  }
})
