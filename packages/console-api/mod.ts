/**
 * console-api: what a hub serves to the web console. sessions/ logs browsers in and keeps them logged in,
 * files/ serves the pages. It draws nothing, and knows no page. Start reading at sessions/session-authenticator.ts.
 */
export { createConsoleSessions, type ConsoleSessions } from './sessions/console-sessions.ts'
export {
  consoleFilesAuthorizer,
  consoleFilesRoute,
  consoleTarget,
  type ReadConsoleFile,
} from './files/files-route.ts'
