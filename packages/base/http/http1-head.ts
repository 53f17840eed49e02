import { STATUS_CODES } from 'node:http'
import { fieldsOfRecord, isFieldName, isFieldValue, type HeaderRecord } from './header-fields.ts'

/**
 * Returns the head of an HTTP/1.1 answer, for connections that no server writes to any more. Throws
 * RangeError for values that would split it. Check a peer's headers with checkPeerHead() or
 * checkPeerSwitch() first.
 */
export function http1Head(status: number, headers: HeaderRecord): Buffer {
  if (!Number.isInteger(status) || status < 101 || status > 599) {
    throw new RangeError(`Cannot write answer: ${status} is not a status`)
  }
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  for (const [name, value] of fieldsOfRecord(headers)) {
    if (!isFieldName(name)) throw new RangeError('Cannot write answer: bad header name')
    if (!isFieldValue(value)) throw new RangeError(`Cannot write answer: bad value of ${name}`)
    text += `${name}: ${value}\r\n`
  }
  // Each character is a byte.
  return Buffer.from(`${text}\r\n`, 'latin1')
}
