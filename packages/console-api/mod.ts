/**
 * console-api: what a hub serves to the web console. sessions/ logs browsers in and keeps them logged in, files/ serves the
 * pages, fleet/ describes all clusters, history/ remembers their tunnels, audit/ searches the audit log, search/ all
 * clusters, watches/ carries everything that a tab watches. It draws nothing and knows no page. Start reading at
 * console-routes.ts (the paths that pages read), then sessions/session-authenticator.ts (the users who read).
 */
export { createConsoleSessions, type ConsoleSessions } from './sessions/console-sessions.ts'
export {
  consoleFilesAuthorizer,
  consoleFilesRoute,
  consoleTarget,
  type ReadConsoleFile,
} from './files/files-route.ts'
export { jsonAnswer } from './request/json-answer.ts'
export { readJsonBody } from './request/json-body.ts'
export { createConsoleRoutes, type ConsoleRoutes } from './console-routes.ts'
