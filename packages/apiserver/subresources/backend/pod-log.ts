import {
  StatusError,
  fieldForbidden,
  fieldInvalid,
  type StatusCause,
  type StatusReason,
} from '@skerry/api'
import { canonicalTime, timeErrorText } from '@skerry/bodies'
import { invalidObject } from '../../contract/status-answers.ts'
import type { SubresourceAnswer, SubresourceHandler } from '../../contract/subresource.ts'
import { wellKnown } from '../../contract/well-known-resources.ts'
import type { NodeAccess } from './backend-dial.ts'
import { readErrorText, sendToBackend } from './backend-request.ts'
import { sendOverSocket } from './log-socket.ts'
import { kubeletTarget } from './kubelet-target.ts'
import { chooseContainer, findPod } from './pod-container.ts'

/** Serves pods/log: streams a container's output from its node. */
export function createLogHandler({ dial, clock }: NodeAccess): SubresourceHandler {
  const handler: SubresourceHandler = {
    upgrade: (request, client) =>
      sendOverSocket(request.headers, client, () => handler.serve(request)),
    async serve({ objects, namespace, name, query, signal }) {
      const options = readLogOptions(query, name)
      const pod = findPod(objects, { namespace, name })
      const container = chooseContainer(pod, query.get('container') ?? '')
      if (!pod.spec?.nodeName) return noContent()
      const target = kubeletTarget(objects, pod.spec.nodeName, wellKnown.pods)
      const answer = await sendToBackend(
        {
          method: 'GET',
          path: `/containerLogs/${namespace}/${name}/${container}?${options.toString()}`,
          host: `${target.host}:${target.port}`,
          headers: {},
          dial: (scope) => dial.dialNode(target, scope),
          clock,
        },
        signal,
      )
      if (answer.type === 'upgrade') {
        answer.socket.destroy()
        throw new StatusError('InternalError', 'the kubelet switched protocols without being asked')
      }
      const { response } = answer
      const code = response.statusCode ?? 500
      if (code < 200 || code > 206) throw refusal(code, name, await readErrorText(response))
      return { type: 'stream', status: 200, headers: plainText, body: response }
    },
  }
  return handler
}

const plainText = Object.freeze({ 'content-type': 'text/plain' })

/** A pod without a node has no log yet. */
function noContent(): SubresourceAnswer {
  return { type: 'stream', status: 204, headers: {}, body: emptyBody() }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {
  // Ends at once.
}

const flags: readonly string[] = ['follow', 'previous', 'timestamps']
/** Numeric query parameters, each with its minimum and the message for smaller values. */
const numbers: Readonly<Record<string, { min: number; message: string }>> = Object.freeze({
  tailLines: { min: 0, message: 'must be greater than or equal to 0' },
  limitBytes: { min: 1, message: 'must be greater than 0' },
  sinceSeconds: { min: 1, message: 'must be greater than 0' },
})

/** Checks the client's options and returns those for the kubelet. */
function readLogOptions(query: URLSearchParams, podName: string): URLSearchParams {
  const options = new URLSearchParams()
  const causes: StatusCause[] = []
  for (const flag of flags) {
    if (['true', '1'].includes(query.get(flag) ?? '')) options.set(flag, 'true')
  }
  for (const [name, { min, message }] of Object.entries(numbers)) {
    const text = query.get(name)
    if (text === null || text === '') continue
    const value = readInteger(text)
    const isSecondTime = name === 'sinceSeconds' && query.get('sinceTime')
    if (value < min && !isSecondTime) causes.push(fieldInvalid(name, value, message))
    options.set(name, text)
  }
  const sinceTime = query.get('sinceTime')
  if (sinceTime && canonicalTime(sinceTime) === undefined) {
    throw new StatusError('BadRequest', timeErrorText(sinceTime))
  }
  if (sinceTime) options.set('sinceTime', sinceTime)
  if (sinceTime && options.has('sinceSeconds')) {
    causes.push(
      fieldForbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'),
    )
  }
  if (query.has('stream')) causes.push(fieldForbidden('stream', 'may not be specified'))
  if (causes.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, podName, causes)
  return options
}

/** Parses a 64-bit number. Throws StatusError BadRequest in Go's words. */
function readInteger(text: string): number {
  const isNumber = /^[-+]?\d+$/.test(text)
  if (isNumber && BigInt.asIntN(64, BigInt(text)) === BigInt(text)) return Number(text)
  const why = isNumber ? 'value out of range' : 'invalid syntax'
  const message = `strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`
  throw new StatusError('BadRequest', message)
}

const reasonOfCode: Readonly<Record<number, StatusReason>> = Object.freeze({
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  503: 'ServiceUnavailable',
})

/** Passes on the kubelet's own words, which explain why there is no log. */
function refusal(code: number, podName: string, text: string): StatusError {
  if (code === 400) return new StatusError('BadRequest', text)
  if (code === 404) {
    const message = `the server could not find the requested resource ( pods/log ${podName})`
    return new StatusError('NotFound', message, { details: { name: podName, kind: 'pods/log' } })
  }
  const reason = reasonOfCode[code]
  if (reason === undefined) return new StatusError('InternalError', text)
  return new StatusError(reason, text, { code })
}
