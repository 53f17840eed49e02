import { isAllowed, questionOf, type Question } from './recording.ts'

/** Records the questions that an authorizer is asked, by user, and answers as the user's name prescribes. */
export class AskedQuestions {
  readonly #byUser = new Map<string, Question[]>()

  /** Records the `spec` of a SubjectAccessReview and returns whether it is allowed. */
  ask(user: string, spec: Readonly<Record<string, unknown>>): boolean {
    const questions = this.#byUser.get(user) ?? []
    this.#byUser.set(user, questions)
    questions.push(questionOf(spec))
    return isAllowed(user, questions.length - 1)
  }

  of(user: string): readonly Question[] {
    return this.#byUser.get(user) ?? []
  }
}
