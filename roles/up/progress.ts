import { upBounds } from './limits-table.ts'

/** Shows steps with their times: a line for each step that is redrawn on a terminal, plain lines elsewhere. */
export interface Progress {
  /** Runs the step and shows its result, which appears after its name. */
  step<T>(title: string, run: (tell: (detail: string) => void) => Promise<T>): Promise<T>
}

export interface ProgressOutput {
  write(text: string): void
  isTerminal: boolean
  /** The number of characters in a line; a longer one would wrap and could not be redrawn. */
  columns?: number
}

const { redrawMs } = upBounds.progress
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

export function createProgress(output: ProgressOutput): Progress {
  return {
    async step(title, run) {
      const startMs = performance.now()
      let detail = ''
      let frame = 0
      const seconds = (): string => ((performance.now() - startMs) / 1_000).toFixed(1)
      const line = (mark: string): string =>
        `${mark} ${title}${detail === '' ? '' : `: ${detail}`} (${seconds()} s)`
      const fits = (text: string): string => text.slice(0, (output.columns ?? 80) - 1)
      const draw = (): void =>
        output.write(`\r\u001B[2K${fits(line(frames[frame++ % frames.length] ?? ''))}`)
      const timer = output.isTerminal ? setInterval(draw, redrawMs) : undefined
      const finish = (mark: string): void => {
        clearInterval(timer)
        output.write(output.isTerminal ? `\r\u001B[2K${line(mark)}\n` : `${line(mark)}\n`)
      }
      try {
        const result = await run((text) => {
          detail = text
        })
        finish('✔')
        return result
      } catch (error) {
        finish('✖')
        throw error
      }
    },
  }
}
