import assert from 'node:assert/strict'
import { test } from 'node:test'
import { service } from '../testing/service-objects.ts'
import { perService } from './per-service.ts'

test('a service is computed again when it or one of its parts is another object, and only then', () => {
  const remembered = perService<number>()
  let computed = 0
  const web = service('web', {})
  const [one, other] = [{}, {}]
  const look = (of: typeof web, ...parts: object[]): number =>
    remembered(of, parts, () => (computed += 1))
  assert.deepEqual([look(web, one), look(web, one)], [1, 1])
  assert.equal(look(web, other), 2)
  assert.equal(look(web, other, one), 3)
  assert.equal(look({ ...web }, other, one), 4)
  assert.equal(look(web, other, one), 3)
})
