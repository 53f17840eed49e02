import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { giveRight, type OddJsonAnswer } from './odd-json-answers.ts'
import type { RawPeer } from './raw-peer.ts'
import { collectUncaught } from './uncaught-errors.ts'

/** The outcome of one question: the caller's value, or the error it got. */
export type Told = { readonly value: unknown } | { readonly error: string }

export interface OddTrial {
  readonly peer: RawPeer
  /** Returns the JSON text of the right answer. */
  readonly right: (head: string, body: string) => string
  /** Selects the requests that get odd answers. Default: all. */
  readonly isTried?: (head: string) => boolean
  /** Asks the peer one question. */
  readonly ask: () => Promise<Told>
  /** Asks with a short timeout; default: answers that stall are skipped. */
  readonly askImpatiently?: () => Promise<Told>
  /** Matches every error: it must name the peer. */
  readonly names: RegExp
  /** The most bytes that one question may read. Default: 1 MiB. */
  readonly bytesMax?: number
}

/**
 * Alternates odd and right answers. Fails if the caller accepts an invalid answer, gets an error that does not name the
 * peer, does not get the next right answer, or reads without bound, or if an error would have ended the process.
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
  for (const { what, isNone, isStalling = false, give } of answers) {
    if (isStalling && !trial.askImpatiently) continue
    const before = peer.writtenBytes()
    const given: Promise<void>[] = []
    peer.answer = (connection, head, body) => {
      const answer = isTried(head) ? give : giveRight
      given.push(Promise.resolve(answer(connection, right(head, body))))
    }
    const told = isStalling ? await trial.askImpatiently?.() : await trial.ask()
    assert.ok(told)
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

/** Allows for the buffers of sockets, TLS and streams at both ends. */
const onTheWayBytes = 8 * 1024 * 1024
