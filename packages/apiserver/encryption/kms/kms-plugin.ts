import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { unaryCall } from '@skerry/base'
import { readMessage, textOf, writeMessage, type Annotations } from './kms-messages.ts'

export interface KmsStatus {
  readonly version: string
  /** `ok`, or the problem. */
  readonly health: string
  readonly keyId: string
}

export interface KmsCiphertext {
  readonly ciphertext: Uint8Array
  readonly keyId: string
  readonly annotations: Annotations
}

/** A KMS v2 plugin. Calls reject with gRPC's error. */
export interface KmsPlugin extends Disposable {
  status(): Promise<KmsStatus>
  encrypt(plaintext: Uint8Array, uid: string): Promise<KmsCiphertext>
  decrypt(sealed: KmsCiphertext, uid: string): Promise<Uint8Array>
}

const encryptAnnotationsField = 3

/** `endpoint` is `unix:///path`. The connection is opened with the first call, and reopened if necessary. */
export function openKmsPlugin(endpoint: string, timeoutMs: number): KmsPlugin {
  const client = new Client(endpoint, credentials.createInsecure(), {
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.min_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 1_000,
  })
  const scope = new AbortController()
  const call = (name: string, request: Buffer): Promise<Buffer> => {
    const path = `/v2.KeyManagementService/${name}`
    const method = { path, requestSerialize: same, responseDeserialize: same }
    return unaryCall(client, { method, request, metadata: new Metadata(), timeoutMs }, scope.signal)
  }
  return {
    async status() {
      const { bytes } = readMessage(await call('Status', Buffer.alloc(0)))
      return {
        version: textOf(bytes.get(1)),
        health: textOf(bytes.get(2)),
        keyId: textOf(bytes.get(3)),
      }
    },
    async encrypt(plaintext, uid) {
      const answer = await call('Encrypt', writeMessage({ 1: plaintext, 2: uid }))
      const { bytes, annotations } = readMessage(answer, encryptAnnotationsField)
      const ciphertext = bytes.get(1) ?? new Uint8Array(0)
      return { ciphertext, keyId: textOf(bytes.get(2)), annotations }
    },
    async decrypt({ ciphertext, keyId, annotations }, uid) {
      const fields = { 1: ciphertext, 2: uid, 3: keyId, 4: annotations }
      const { bytes } = readMessage(await call('Decrypt', writeMessage(fields)))
      return bytes.get(1) ?? new Uint8Array(0)
    },
    [Symbol.dispose]() {
      scope.abort(new Error('The KMS plugin is closed'))
      client.close()
    },
  }
}

function same(bytes: Buffer): Buffer {
  return bytes
}
