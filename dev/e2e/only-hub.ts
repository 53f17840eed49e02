import assert from 'node:assert/strict'
import type { TestMachine } from '@skerry/testing'

/** Fails unless the machine has no way out of its network and none of these programs. */
export async function assertHasOnlyHub(
  machine: TestMachine,
  programs: readonly string[],
): Promise<void> {
  const routes = await machine.ask(['cat', '/proc/net/route'])
  const defaults = routes.split('\n').filter((line) => line.split('\t')[1] === '00000000')
  assert.deepEqual(defaults, [])
  for (const name of programs) {
    assert.notEqual((await machine.run(['sh', '-c', `command -v ${name}`])).exitCode, 0, name)
  }
}
