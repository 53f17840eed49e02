import { mkdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import {
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerUnaryCall,
} from '@grpc/grpc-js'
import { messageOf } from '@skerry/base'
import { loadMethods } from '../cri/grpc-channel.ts'
import { kubeletBounds } from '../limits-table.ts'
import { deviceRegistration } from './device-schema-table.ts'
import type { PluginOptions } from './device-plugin.ts'

const { registrationBytesMax } = kubeletBounds.devices

/** The words with which a plugin registers. */
export interface RegisterRequest {
  readonly version: string
  /** The name of its socket, in the directory of this node's socket. */
  readonly endpoint: string
  readonly resourceName: string
  readonly options: PluginOptions | null
}

/**
 * Serves the socket at which device plugins register. Plugins watch for it: one that has just been made tells them to
 * register again. `onRegister` throws to refuse.
 */
export async function serveRegistration(
  path: string,
  onRegister: (request: RegisterRequest) => void,
): Promise<AsyncDisposable> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 })
  await rm(path, { force: true })
  const server = new Server({ 'grpc.max_receive_message_length': registrationBytesMax })
  server.addService(loadMethods(deviceRegistration), {
    Register(
      { request }: ServerUnaryCall<RegisterRequest, object>,
      answer: sendUnaryData<object>,
    ): void {
      try {
        onRegister(request)
        answer(null, {})
      } catch (error) {
        answer({ code: status.UNKNOWN, details: messageOf(error) })
      }
    },
  })
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    )
  })
  return {
    async [Symbol.asyncDispose]() {
      server.forceShutdown()
      await rm(path, { force: true })
    },
  }
}
