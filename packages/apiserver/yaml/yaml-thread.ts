/** The program of YamlReader's thread: it reads one text after the other, and answers each. */
import { parentPort } from 'node:worker_threads'
import { YamlError, parseYaml, type YamlRequest } from '@skerry/bodies'
import type { YamlThreadAnswer } from './yaml-reader.ts'

parentPort?.on('message', (request: YamlRequest) => parentPort?.postMessage(answerOf(request)))

function answerOf(request: YamlRequest): YamlThreadAnswer {
  try {
    const { value, duplicates } = parseYaml(request)
    // A text is copied to the other thread at once, but its many objects would be copied one by
    // one.
    return { json: JSON.stringify(value), duplicates }
  } catch (error) {
    if (error instanceof YamlError) return { refusal: error.message }
    throw error
  }
}
