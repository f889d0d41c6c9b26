// Everything that runs in threads, created and ended together. Does not know who asks.
import { HistoryReader } from './history-reader.ts'
import { Outliner } from './outline.ts'
import { PlanMaker } from './plan.ts'
import { Searcher } from './search.ts'
import { SyntaxChecker } from './syntax.ts'
import type { CrashReport } from './threads.ts'

/**
 * Nothing is started before it is needed. `onCrash` receives the error that ended a parser's thread, since the answer
 * only says that the parser failed; for other threads, the call rejects.
 */
export class Workers {
  readonly searcher = new Searcher()
  readonly historyReader = new HistoryReader()
  readonly planMaker: PlanMaker
  readonly outliner: Outliner
  readonly syntaxChecker: SyntaxChecker

  constructor({ planMaker = new PlanMaker(), ...options }: { planMaker?: PlanMaker; onCrash?: CrashReport } = {}) {
    this.planMaker = planMaker
    this.outliner = new Outliner(options)
    this.syntaxChecker = new SyntaxChecker(options)
  }

  /** Waits for the jobs, and ends the threads. */
  async close(): Promise<void> {
    await Promise.all(
      [this.searcher, this.historyReader, this.planMaker, this.outliner, this.syntaxChecker].map(workers =>
        workers.close()
      )
    )
  }
}
