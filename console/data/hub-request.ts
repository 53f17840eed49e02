/** Requests to the hub as the session's user. The cookie travels by itself and counts only with our header. */
import { requestLimits } from '../limits-table.ts'
import { browserClock } from './browser-clock.ts'
import { learnHubTime } from './hub-clock.ts'
import { HubError, asHubError, errorOfAnswer } from './hub-error.ts'

export interface HubRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Sent as JSON, or as it is if it is a text. */
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  readonly signal?: AbortSignal
  /** A stream has no end in time; any other request has one. */
  readonly isStream?: boolean
}

const signOutListeners = new Set<() => void>()

/** Calls when the hub no longer knows the session. */
export function onSignedOut(listener: () => void): () => void {
  signOutListeners.add(listener)
  return () => signOutListeners.delete(listener)
}

/** Resolves a good answer, and rejects with a HubError otherwise. */
export async function askHub(path: string, request: HubRequest = {}): Promise<Response> {
  const answer = await send(path, request)
  const date = Date.parse(answer.headers.get('date') ?? '')
  if (!Number.isNaN(date)) learnHubTime(date)
  if (answer.ok) return answer
  if (answer.status === 401 && path !== '/hub/v1/session') {
    for (const listener of signOutListeners) listener()
  }
  const requestId = answer.headers.get('audit-id') ?? undefined
  const retryAfter = answer.headers.get('retry-after') ?? undefined
  throw errorOfAnswer(await answer.text(), {
    code: answer.status,
    ...(requestId === undefined ? {} : { requestId }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  })
}

/** Resolves the JSON of an answer, which the caller describes. */
export async function askJson<Answer>(path: string, request: HubRequest = {}): Promise<Answer> {
  const answer = await askHub(path, request)
  const text = await answer.text()
  if (text.length > requestLimits.answerBytesMax) {
    throw new HubError(`The answer has ${text.length} characters, too many to show`, {
      code: answer.status,
      reason: 'TooLarge',
    })
  }
  // The API's own document.
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}

async function send(path: string, request: HubRequest): Promise<Response> {
  const { method = 'GET', body, contentType = 'application/json', accept } = request
  const limits = request.isStream ? [] : [browserClock.limit(requestLimits.timeoutMs)]
  const signals = [...limits, ...(request.signal === undefined ? [] : [request.signal])]
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  try {
    return await fetch(path, {
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
  } catch (error) {
    request.signal?.throwIfAborted()
    throw asHubError(error)
  }
}
