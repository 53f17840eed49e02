import { StatusError } from '@skerry/api'

/**
 * API servers end every request within a minute (--request-timeout), except these, which last as long as the
 * client likes: watches, sessions, logs, and requests proxied to a service or node.
 */
const lasting =
  /[?&](watch|follow)=(1|true|t)\b|^\/(api|apis\/[^/]+)\/[^/]+\/watch\/|\/(proxy|log|exec|attach|portforward)(\/|\?|$)/i

/** Reports whether an answer to this must begin within the limit. */
export function isBoundedInTime(path: string): boolean {
  return !lasting.test(path)
}

/** Returns an error that names the end that did not answer. */
export function notAnswered(answerMs: number): StatusError {
  const text = `the cluster's agent is connected, but its API server has not answered in ${answerMs / 1_000} s`
  return new StatusError('Timeout', `Cannot get an answer: ${text}`)
}
