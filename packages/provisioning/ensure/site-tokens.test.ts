import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exitCodes } from '@skerry/base'
import { StepError } from '../contract/step.ts'
import { fakeShell, type FakeAnswer } from '../testing/fake-shell.ts'
import { createNodeToken } from './site-tokens.ts'

const made = { token: 'abcdef.0123456789abcdef', caHash: `sha256:${'a'.repeat(64)}` }
const asked = { server: 'https://10.0.0.1:6443', nodeName: 'shop-7' }
const { signal } = new AbortController()

async function ask(answer: FakeAnswer) {
  const printed: string[] = []
  const shell = fakeShell(answer)
  const context = { print: (text: string) => void printed.push(text), signal }
  const token = await createNodeToken(shell, asked, context)
  return { token, printed, commands: shell.commands.map((words) => words.join(' ')) }
}

test('the token of a machine is for the name of its node alone', async () => {
  const { token, printed, commands } = await ask(() => ({ stdout: JSON.stringify(made) }))
  assert.deepEqual(token, { ...made, server: asked.server })
  assert.match(commands[0] ?? '', / token create .* --node-name shop-7 /)
  assert.deepEqual([commands.length, printed], [1, []])
})

test('an older master, whose program does not know names of tokens, makes one without', async () => {
  const { commands } = await ask((command) =>
    command.includes('--node-name')
      ? { exitCode: exitCodes.usage, stderr: 'unknown option' }
      : { stdout: JSON.stringify(made) },
  )
  assert.deepEqual(
    commands.map((text) => text.includes('--node-name')),
    [true, false],
  )
})

test('a master that makes no token says why', async () => {
  const asking = ask(() => ({ exitCode: 1, stderr: 'the store is full\n' }))
  await assert.rejects(
    asking,
    (error: unknown) =>
      error instanceof StepError &&
      error.message === 'skerry token create exited with 1: the store is full',
  )
})
