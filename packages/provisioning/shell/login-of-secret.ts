import type { Secret } from '@skerry/api'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import type { JumpHost } from '../kind/block-way.ts'
import { ShellError, type Login } from '../contract/shell.ts'

/** The keys of a Secret with a login. */
export const loginKeys = Object.freeze({
  password: 'password',
  privateKey: 'ssh-privatekey',
  passphrase: 'passphrase',
  sudoPassword: 'sudo-password',
})

/** A machine or a jump host. */
export interface LoginPlace extends Pick<PlannedMachine, 'address' | 'port' | 'user'> {
  readonly block: Pick<JumpHost, 'credentials'>
}

/**
 * Returns the login that a Secret holds for a machine. The type of the Secret does not matter:
 * kubernetes.io/basic-auth and kubernetes.io/ssh-auth have these loginKeys. Throws a ShellError if it holds none.
 */
export function loginOf(machine: LoginPlace, secret: Secret | undefined): Login {
  const { name } = machine.block.credentials
  if (secret === undefined) {
    const text = `Cannot log in to ${machine.address}: there is no Secret ${name}; create it with password or ssh-privatekey`
    throw new ShellError('login', text)
  }
  const read = (key: string): string | undefined => {
    const value = secret.data?.[key]
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8')
  }
  const password = withoutLineEnd(read(loginKeys.password))
  const privateKey = read(loginKeys.privateKey)
  const passphrase = withoutLineEnd(read(loginKeys.passphrase))
  const sudoPassword = withoutLineEnd(read(loginKeys.sudoPassword))
  if (password === undefined && privateKey === undefined) {
    const text = `Cannot log in to ${machine.address}: Secret ${name} has neither ${loginKeys.password} nor ${loginKeys.privateKey}`
    throw new ShellError('login', text)
  }
  return {
    user: machine.user,
    port: machine.port,
    ...(password === undefined ? {} : { password }),
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(sudoPassword === undefined ? {} : { sudoPassword }),
  }
}

/** Returns everything of a login that may appear in no log, condition or message. */
export function secretsOf({ password, privateKey, passphrase, sudoPassword }: Login): string[] {
  return [password, passphrase, sudoPassword, ...(privateKey?.split('\n') ?? [])].flatMap(
    (text) => text ?? [],
  )
}

/** A password that was written into a file often ends with a line end that is not part of it. */
function withoutLineEnd(text: string | undefined): string | undefined {
  return text?.replace(/\r?\n$/, '')
}
