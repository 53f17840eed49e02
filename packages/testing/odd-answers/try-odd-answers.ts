import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { collectUncaught } from './uncaught-errors.ts'
import { giveRight, type OddJsonAnswer } from './odd-json-answers.ts'
import type { RawPeer } from './raw-peer.ts'

/** What the caller makes of an answer: a value, or what it is told is wrong. */
export type Told = { readonly value: unknown } | { readonly error: string }

export interface OddTrial {
  readonly peer: RawPeer
  /** JSON text of the right answer to a request. */
  right(head: string, body: string): string
  /** Which requests are answered oddly; default: all. */
  readonly isTried?: (head: string) => boolean
  /** Has the peer asked once. */
  ask(): Promise<Told>
  /** How an error tells whose answer it was about. */
  readonly names: RegExp
  /** The most that is read of the answers to one question; default: 1 MiB. */
  readonly bytesMax?: number
}

/**
 * Asks a peer that answers oddly, and then one that answers rightly, again and again. Fails where the caller takes what
 * is no answer, is not told whose it was, does not get the next right answer, reads without bound, or where an error
 * would have ended the process.
 */
export async function tryOddAnswers(
  trial: OddTrial,
  answers: Iterable<OddJsonAnswer>,
): Promise<void> {
  const { peer, right, names, bytesMax = 1024 * 1024, isTried = () => true } = trial
  using uncaught = collectUncaught()
  const askRightly = (): Promise<Told> => {
    peer.answer = (connection, head, body) => giveRight(connection, right(head, body))
    return trial.ask()
  }
  const wanted = await askRightly()
  assert.ok('value' in wanted, `the right answer: ${JSON.stringify(wanted)}`)
  for (const { what, isNone, give } of answers) {
    const before = peer.writtenBytes()
    const given: (void | Promise<void>)[] = []
    peer.answer = (connection, head, body) => {
      const answer = isTried(head) ? give : giveRight
      given.push(answer(connection, right(head, body)))
    }
    const told = await trial.ask()
    await Promise.all(given)
    if ('error' in told) assert.match(told.error, names, what)
    else if (isNone) assert.fail(`${what} is taken for an answer: ${JSON.stringify(told.value)}`)
    const bytes = peer.writtenBytes() - before
    assert.ok(bytes <= bytesMax + onTheWayBytes, `${what}: ${bytes} bytes are taken`)
    assert.deepEqual(await askRightly(), wanted, `the next answer after ${what}`)
    await nextTurn()
    assert.deepEqual(uncaught.errors, [], what)
  }
}

/** Buffers of both ends' sockets, TLS and streams. */
const onTheWayBytes = 8 * 1024 * 1024
