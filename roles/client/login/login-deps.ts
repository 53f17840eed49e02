import { homedir } from 'node:os'
import { programCommand } from '../../runtime/program-command.ts'
import type { LoginDeps } from './login.ts'
import { loginDirectory } from './login-session.ts'

/** Returns the dependencies for the person at this machine. */
export function loginDeps(): LoginDeps {
  return {
    directory: loginDirectory(process.env, homedir()),
    command: programCommand([]),
    // Standard output is for the requested result.
    tell: (text: string): void => console.error(text),
  }
}
