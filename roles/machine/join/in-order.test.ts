import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExpectedError } from '@skerry/base'
import { StepError, type RunResult } from '@skerry/provisioning'
import { inOrder } from './own-machine.ts'

const { signal } = new AbortController()

/** Two steps on a machine that answers each command like this, and everything that happened, in order. */
async function happens(
  answer: (command: readonly string[]) => Partial<RunResult>,
  second: () => Promise<string> = async () => 'done',
): Promise<{ readonly events: string[]; readonly error: unknown }> {
  const events: string[] = []
  const run = async (command: readonly [string, ...string[]]): Promise<RunResult> => {
    events.push(command[0])
    return { exitCode: 0, stdout: '', stderr: '', ...answer(command) }
  }
  const steps = [
    { does: 'one', act: async () => 'done' },
    { does: 'two', act: second },
  ]
  const deps = { print: (line: string) => void events.push(line.trim()), signal }
  const error: unknown = await inOrder(steps, { run }, deps).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { events, error }
}

test('a step of a copied line is reported as done when the disk has its work, and not before', async () => {
  const { events, error } = await happens(() => ({}))
  assert.equal(error, undefined)
  assert.deepEqual(events, ['one', 'sync', 'done', 'two', 'sync', 'done'])
})

test('a disk that takes no work fails the step, and nothing after it is done', async () => {
  const { events, error } = await happens(() => ({ exitCode: 1, stderr: 'Input/output error\n' }))
  assert.ok(error instanceof ExpectedError)
  assert.match(error.message, /^Cannot join \(one\): the machine cannot write to its disk: Input/)
  assert.deepEqual(events, ['one', 'sync'])
})

test('a step that fails names itself', async () => {
  const { error } = await happens(
    () => ({}),
    async () => {
      throw new StepError('the node is not Ready')
    },
  )
  assert.match(String(error), /Cannot join \(two\): the node is not Ready/)
})
