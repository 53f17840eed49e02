/** A shell in a container. It is loaded when it is first opened: the terminal is larger than all else. */
import { useEffect, useRef, useState } from 'react'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import {
  execProtocol,
  readExecMessage,
  resizeMessage,
  shellPath,
  stdinMessage,
} from '../../data/pods/exec-frames.ts'
import { giveStylesNonce } from '../../parts/style-nonce.ts'
import { isTerminalRead } from '../../data/browser/terminal-reading.ts'
import { viewLimits } from '../../limits-table.ts'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

interface ShellViewProps {
  readonly podPath: string
  readonly container: string
}

type ShellState =
  | { readonly is: 'opening' | 'open' }
  | { readonly is: 'ended'; readonly exitCode: number; readonly message: string }
  | { readonly is: 'lost' }

export function ShellView({ podPath, container }: ShellViewProps) {
  const texts = useTexts(both)
  const room = useRef<HTMLDivElement>(null)
  const hint = useRef<HTMLParagraphElement>(null)
  // Another language must not end the program in the shell.
  const name = useRef(texts.terminal)
  const [turn, setTurn] = useState(0)
  const [state, setState] = useState<ShellState>({ is: 'opening' })
  useEffect(() => {
    const element = room.current
    if (element === null) return
    setState({ is: 'opening' })
    const onLeave = (): void => hint.current?.focus()
    const path = shellPath(podPath, container)
    return openShell(element, path, { onState: setState, onLeave, name: name.current })
  }, [podPath, container, turn])
  const isOver = state.is === 'ended' || state.is === 'lost'
  return (
    <>
      <div className="terminal" ref={room} />
      <p className="muted" ref={hint} tabIndex={-1}>
        {texts.leaveShell}
      </p>
      {isOver ? (
        <p className={state.is === 'lost' ? 'banner tone-away' : 'banner'} role="status">
          <span>
            {state.is === 'lost' ? texts.shellLost : texts.shellEnded(state.exitCode)}
            {state.is === 'ended' && state.message !== '' ? ` ${state.message}` : ''}
          </span>
          <button type="button" className="button" onClick={() => setTurn(turn + 1)}>
            {texts.openAgain}
          </button>
        </p>
      ) : undefined}
    </>
  )
}

interface OpenShell {
  /** The name of the field for input, for screen readers. */
  readonly name: string
  readonly onState: (state: ShellState) => void
  /** The key that leaves the terminal was pressed: all others are the program's, Tab among them. */
  readonly onLeave: () => void
}

/** Draws the terminal into the element until the returned function is called. */
function openShell(
  room: HTMLElement,
  path: string,
  { name, onState, onLeave }: OpenShell,
): () => void {
  giveStylesNonce()
  const terminal = new Terminal({
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
    fontSize: 13,
    scrollback: viewLimits.terminalLines,
    theme: { background: '#0e1315', foreground: '#e7edef', cursor: '#5cc8b8' },
    screenReaderMode: isTerminalRead(),
  })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  terminal.open(room)
  terminal.textarea?.setAttribute('aria-label', name)
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key !== 'Escape' || !event.shiftKey) return true
    event.preventDefault()
    if (event.type === 'keydown') onLeave()
    return false
  })
  fit.fit()
  terminal.focus()
  const socket = new WebSocket(`wss://${location.host}${path}`, execProtocol)
  socket.binaryType = 'arraybuffer'
  let isEnded = false
  const send = (bytes: Uint8Array<ArrayBuffer>): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(bytes)
  }
  socket.addEventListener('open', () => {
    onState({ is: 'open' })
    send(resizeMessage(terminal.cols, terminal.rows))
  })
  socket.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (!(data instanceof ArrayBuffer)) return
    const message = readExecMessage(data)
    if (message?.is === 'output') terminal.write(message.bytes)
    if (message?.is !== 'end') return
    isEnded = true
    onState({ is: 'ended', exitCode: message.exitCode, message: message.message })
  })
  socket.addEventListener('close', () => {
    if (!isEnded) onState({ is: 'lost' })
  })
  const typed = terminal.onData((text) => send(stdinMessage(text)))
  const resized = terminal.onResize(({ cols, rows }) => send(resizeMessage(cols, rows)))
  const observer = new ResizeObserver(() => fit.fit())
  observer.observe(room)
  return () => {
    isEnded = true
    observer.disconnect()
    typed.dispose()
    resized.dispose()
    socket.close()
    terminal.dispose()
  }
}
