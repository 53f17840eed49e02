import { messageOf } from '@skerry/base'
import { StatusError } from '@skerry/api'
import type { ApiAnswer, ApiRequest } from '../contract/exchange.ts'
import { negotiateOrNone, plainOffer, wantsPretty } from '../http/negotiate.ts'
import { statusAnswer, statusOf } from '../contract/status-answer.ts'
import { valueAnswer } from './represent.ts'

/**
 * Encodes an error as the client accepts, or as indented JSON if it accepts no encoding we write.
 * Never fails: an error that is too long or too deep is shortened.
 */
export async function errorAnswer(error: StatusError, request: ApiRequest): Promise<ApiAnswer> {
  try {
    return await wholeAnswer(error, request)
  } catch (failure) {
    const why = messageOf(failure)
    const message = `Internal error occurred: the error cannot be written: ${why}`
    return statusAnswer(new StatusError('InternalError', message, { cause: failure }))
  }
}

async function wholeAnswer(error: StatusError, request: ApiRequest): Promise<ApiAnswer> {
  const answer = statusAnswer(error)
  const { accept, 'user-agent': userAgent } = request.headers
  const query = new URLSearchParams(request.target.split('?', 2)[1])
  const isPretty = wantsPretty(query, userAgent)
  const representation = negotiateOrNone(accept, isPretty, plainOffer)
  if (representation?.encoding === 'json' && !representation.isPretty) return answer
  const shown = representation ?? { encoding: 'json', isPretty: true }
  const { body, headers } = await valueAnswer(answer.status, statusOf(error), shown)
  return { ...answer, headers: { ...answer.headers, ...headers }, body }
}
