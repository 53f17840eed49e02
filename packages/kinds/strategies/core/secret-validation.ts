import {
  checkConfigKey,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  type Secret,
  type StatusCause,
} from '@skerry/api'
import { decodedLength } from '../base64.ts'
import { addInvalid, checkUnchanged, type Found } from '../checks.ts'
import type { LooseObject } from '../typed-strategy.ts'
import { checkImmutable } from './config-map.ts'
import { dataBytesMax } from '../../limits-table.ts'

export function validateSecret(secret: LooseObject<Secret>): StatusCause[] {
  const found: Found = []
  const { data = {} } = secret
  let bytes = 0
  for (const [key, value] of Object.entries(data)) {
    addInvalid(found, `data[${key}]`, key, checkConfigKey(key))
    bytes += decodedLength(value)
  }
  if (bytes > dataBytesMax) found.push(fieldTooLong('data', dataBytesMax))
  checkOfType[secret.type ?? 'Opaque']?.(secret, found)
  return found
}

type TypeCheck = (secret: LooseObject<Secret>, found: Found) => void

const accountKey = 'kubernetes.io/service-account.name'

const checkOfType: Readonly<Record<string, TypeCheck>> = Object.freeze({
  'kubernetes.io/service-account-token': (secret: LooseObject<Secret>, found: Found) => {
    if (secret.metadata.annotations?.[accountKey]) return
    found.push(fieldRequired(`metadata.annotations[${accountKey}]`))
  },
  'kubernetes.io/dockercfg': (secret: LooseObject<Secret>, found: Found) => {
    checkJsonKey(secret, '.dockercfg', found)
  },
  'kubernetes.io/dockerconfigjson': (secret: LooseObject<Secret>, found: Found) => {
    checkJsonKey(secret, '.dockerconfigjson', found)
  },
  'kubernetes.io/basic-auth': ({ data = {} }: LooseObject<Secret>, found: Found) => {
    if ('username' in data || 'password' in data) return
    found.push(fieldRequired('data[username]'), fieldRequired('data[password]'))
  },
  'kubernetes.io/ssh-auth': ({ data = {} }: LooseObject<Secret>, found: Found) => {
    if (!data['ssh-privatekey']) found.push(fieldRequired('data[ssh-privatekey]'))
  },
  'kubernetes.io/tls': ({ data = {} }: LooseObject<Secret>, found: Found) => {
    for (const key of ['tls.crt', 'tls.key']) {
      if (!(key in data)) found.push(fieldRequired(`data[${key}]`))
    }
  },
})

function checkJsonKey({ data = {} }: LooseObject<Secret>, key: string, found: Found): void {
  const value = data[key]
  if (value === undefined) found.push(fieldRequired(`data[${key}]`))
  else if (!isJsonMap(value)) {
    const detail = value === '' ? 'unexpected end of JSON input' : 'invalid character in JSON'
    found.push(fieldInvalid(`data[${key}]`, '<secret contents redacted>', detail))
  }
}

function isJsonMap(base64: string): boolean {
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return value === null || (typeof value === 'object' && !Array.isArray(value))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DOMException) return false
    throw error
  }
}

export function validateSecretUpdate(
  next: LooseObject<Secret>,
  old: LooseObject<Secret>,
): StatusCause[] {
  const found: Found = []
  checkUnchanged(next.type, old.type, 'type', found)
  checkImmutable(next, old, ['data'], found)
  return [...found, ...validateSecret(next)]
}
