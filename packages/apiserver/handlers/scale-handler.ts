import type { Subresource } from '@skerry/api'
import type { ApiAnswer } from '../http/exchange.ts'
import { methodNotAllowed } from '../http/status-answer.ts'
import type { HandlerDeps, ResourceCall } from './resource-call.ts'

export async function scaleAnswer(
  _call: ResourceCall,
  _subresource: Subresource,
  _deps: HandlerDeps,
): Promise<ApiAnswer> {
  throw methodNotAllowed()
}
