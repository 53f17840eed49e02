import { isJsonObject } from '@skerry/api'
import { parse as parseYaml } from 'yaml'
import { webhookLimits } from '../limits-table.ts'

export interface HttpAnswer {
  readonly status: number
  readonly contentType: string
  readonly bytes: Buffer
}

/** Parses the body as JSON. Throws Error with upstream's words unless the status means success. */
export function answerValue(answer: HttpAnswer): unknown {
  const { status, bytes, contentType } = answer
  if (status < 200 || status > 206) throw new Error(refusalText(answer))
  if (bytes.length === 0) {
    throw new Error(
      `0-length response with status code: ${status} and content type: ${contentType}`,
    )
  }
  return parseJson(bytes.toString())
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return looseValue(text)
  }
}

/** Accepts YAML in place of JSON, like upstream's decoder; a long text could block the server for seconds. */
function looseValue(text: string): unknown {
  if (text.length > webhookLimits.yamlCharactersMax) return text
  try {
    return parseYaml(text)
  } catch {
    return text
  }
}

const texts: Readonly<Record<number, string>> = Object.freeze({
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
})

/** Formats a failed answer as a Kubernetes client reports it. */
function refusalText({ status, contentType, bytes }: HttpAnswer): string {
  const known = texts[status]
  const message = statusMessage(bytes)
  if (message !== undefined) return message
  if (known !== undefined) return known
  const isText = contentType === '' || contentType.startsWith('text/')
  const text = isText ? bytes.toString().trim().slice(0, webhookLimits.errorTextMax) : 'unknown'
  if (status === 403 || status === 406 || status === 415) return text
  if (status >= 500) {
    return `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`
  }
  return `the server responded with the status code ${status} but did not return more information`
}

function statusMessage(bytes: Buffer): string | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    if (!isJsonObject(value) || value['kind'] !== 'Status' || value['status'] === 'Success') {
      return undefined
    }
    const { message } = value
    return typeof message === 'string' ? message : undefined
  } catch {
    // The body is not a Status, so there is only the status line.
    return undefined
  }
}
