import type { ClientRequest } from 'node:http'
import { StatusError } from '@skerry/api'

/**
 * API servers end every request within a minute (--request-timeout) but these, which last as long as their
 * askers like: watches, sessions, logs, and what goes on to a service or a node.
 */
const lasting =
  /[?&](watch|follow)=(1|true|t)\b|^\/(api|apis\/[^/]+)\/[^/]+\/watch\/|\/(proxy|log|exec|attach|portforward)(\/|\?|$)/i

/** Whether an answer to this must begin within the limit. */
export function isBoundedInTime(path: string): boolean {
  return !lasting.test(path)
}

/**
 * From when the request is all sent: how long that takes depends on the link, not on the API server.
 * Destroys the request with a StatusError Timeout.
 */
export function limitAnswerTime(outgoing: ClientRequest, answerMs: number): void {
  outgoing.once('finish', () => {
    const timer = setTimeout(() => outgoing.destroy(notAnswered(answerMs)), answerMs)
    for (const event of ['response', 'close']) outgoing.once(event, () => clearTimeout(timer))
  })
}

function notAnswered(answerMs: number): StatusError {
  const text = `the cluster's agent is there, its API server has not answered in ${answerMs / 1_000} s`
  return new StatusError('Timeout', `Cannot get an answer: ${text}`)
}
