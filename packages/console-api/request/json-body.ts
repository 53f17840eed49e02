import { StatusError, isJsonObject, type JsonObject } from '@skerry/api'
import type { ApiRequest } from '@skerry/apiserver'

/** Reads a small object. A form of another site cannot have its type without a preflight. `doing` is an infinitive. */
export async function readJsonBody(
  { headers, body }: Pick<ApiRequest, 'headers' | 'body'>,
  { doing, bytesMax }: { readonly doing: string; readonly bytesMax: number },
): Promise<JsonObject> {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1)
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new StatusError('UnsupportedMediaType', `Cannot ${doing}: expected application/json`)
  }
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body) {
    length += part.length
    if (length > bytesMax) {
      throw new StatusError('RequestEntityTooLarge', `Cannot ${doing}: limit is ${bytesMax}`)
    }
    parts.push(part)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'))
    if (isJsonObject(value)) return value
  } catch (error) {
    throw new StatusError('BadRequest', `Cannot ${doing}: the body is not JSON`, { cause: error })
  }
  throw new StatusError('BadRequest', `Cannot ${doing}: the body is not a JSON object`)
}
