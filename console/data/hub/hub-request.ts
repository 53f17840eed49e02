/** Requests to the hub as the session's user. The cookie travels by itself and counts only with our header. */
import { requestLimits } from '../../limits-table.ts'
import { browserClock } from '../browser/browser-clock.ts'
import { showReorderingInJson } from '../browser/reordering-marks.ts'
import { learnHubTime } from './hub-clock.ts'
import { HubError, errorOfAnswer, noAnswer } from './hub-error.ts'

export interface HubRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Sent as JSON, or as it is if it is a text. */
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  readonly signal?: AbortSignal
  /** A stream has no end in time; any other request has one. */
  readonly isStream?: boolean
  /** Keeps marks that turn letters around, because the answer is to be edited. If omitted, they are made visible. */
  readonly isExact?: boolean
}

const sessionPath = '/hub/v1/session'
const signOutListeners = new Set<() => void>()
let looking: Promise<void> | undefined
let answeredMs = 0

/** When the hub last answered a request, by this browser's clock; 0 if it never has. */
export function lastAnswerMs(): number {
  return answeredMs
}

/** Calls when the hub no longer knows the session. */
export function onSignedOut(listener: () => void): () => void {
  signOutListeners.add(listener)
  return () => signOutListeners.delete(listener)
}

/**
 * Asks whether the session goes on, and calls the listeners if not. A cluster behind the hub may refuse a request with the
 * code of a session that has ended, so that no other answer proves it.
 */
export function lookForSession(): Promise<void> {
  looking ??= isSignedOut()
    .then((isOut) => {
      if (isOut) for (const listener of signOutListeners) listener()
    })
    .finally(() => {
      looking = undefined
    })
  return looking
}

async function isSignedOut(): Promise<boolean> {
  try {
    return (await send(sessionPath, {})).status === 401
  } catch {
    // A hub that is away has ended no session.
    return false
  }
}

/** Resolves a good answer, and rejects with a HubError otherwise. */
export async function askHub(path: string, request: HubRequest = {}): Promise<Response> {
  const answer = await send(path, request)
  const date = Date.parse(answer.headers.get('date') ?? '')
  if (!Number.isNaN(date)) learnHubTime(date)
  if (answer.ok) return answer
  if (answer.status === 401 && path !== sessionPath) await lookForSession()
  const requestId = answer.headers.get('audit-id') ?? undefined
  const retryAfter = answer.headers.get('retry-after') ?? undefined
  const { text } = await readText(answer, requestLimits.errorCharsMax, request)
  throw errorOfAnswer(showReorderingInJson(text), {
    code: answer.status,
    ...(requestId === undefined ? {} : { requestId }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  })
}

/** Resolves the JSON of an answer, which the caller describes. */
export async function askJson<Answer>(path: string, request: HubRequest = {}): Promise<Answer> {
  const answer = await askHub(path, request)
  const code = answer.status
  const charsMax = requestLimits.answerCharsMax
  const { text, isWhole } = await readText(answer, charsMax, request)
  if (!isWhole) {
    const message = `Cannot show the answer: it has more than ${charsMax} characters`
    throw new HubError(message, { code, reason: 'TooLarge' })
  }
  // An answer without a body is for callers that expect none.
  if (text === '') return undefined as Answer
  const read = parsed(request.isExact === true ? text : showReorderingInJson(text))
  if (typeof read !== 'object' || read === null) {
    const message = `Cannot read the answer to ${path}: it is not a JSON object`
    throw new HubError(message, { code, reason: 'BadAnswer' })
  }
  // The API's own document.
  return read as Answer
}

/** Returns undefined for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Whatever answered is not an API.
    return undefined
  }
}

/** Reads so many characters of an answer at most: a cluster of strangers may send it. */
async function readText(
  { body }: Response,
  charsMax: number,
  { signal }: HubRequest,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  if (body === null) return { text: '', isWhole: true }
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  const parts: string[] = []
  let chars = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { text: parts.join(''), isWhole: true }
      parts.push(value)
      chars += value.length
      if (chars <= charsMax) continue
      await reader.cancel()
      return { text: parts.join('').slice(0, charsMax), isWhole: false }
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw noAnswer(error)
  }
}

async function send(path: string, request: HubRequest): Promise<Response> {
  const { method = 'GET', body, contentType = 'application/json', accept } = request
  const limits = request.isStream ? [] : [browserClock.limit(requestLimits.timeoutMs)]
  const signals = [...limits, ...(request.signal === undefined ? [] : [request.signal])]
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  try {
    const answer = await fetch(path, {
      method,
      headers: {
        'X-Skerry-Console': '1',
        ...(accept === undefined ? {} : { Accept: accept }),
        ...(body === undefined ? {} : { 'Content-Type': contentType }),
      },
      ...(text === undefined ? {} : { body: text }),
      ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }),
      credentials: 'same-origin',
      redirect: 'error',
    })
    answeredMs = browserClock.nowMs()
    return answer
  } catch (error) {
    request.signal?.throwIfAborted()
    throw noAnswer(error)
  }
}
