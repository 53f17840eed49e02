import assert from 'node:assert/strict'
import type { TestMachine } from '@skerry/testing'
import type { EdgeHub } from './edge-hub.ts'

/**
 * Looks wherever a hub and its machines write, and at the arguments of every process that ran meanwhile. Fails if one of
 * the secrets or a whole token is found there.
 */
export async function assertKeepsSecrets(
  hub: EdgeHub,
  machines: readonly TestMachine[],
  secrets: readonly string[],
): Promise<void> {
  const texts: Record<string, string> = { ...(await hub.everythingWritten()) }
  for (const machine of machines) {
    texts[`the journal of ${machine.address}`] = await machine.ask(['journalctl', '--no-pager'])
  }
  for (const [place, text] of Object.entries(texts)) {
    // Both are judged without a match, whose message would have the whole text.
    for (const secret of secrets) assert.ok(!text.includes(secret), `${place} has a secret`)
    // The token of a site or a hub: its public half may be named, the other half may not.
    assert.ok(!/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/.test(text), `${place} has a token`)
  }
}
