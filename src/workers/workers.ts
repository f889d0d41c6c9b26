// Everything that runs in threads, made and ended together. Does not know who asks.
import { Outliner } from './outline.ts'
import { PlanMaker } from './plan.ts'
import { Searcher } from './search.ts'
import { SyntaxChecker } from './syntax.ts'

/** Nothing is started before it is needed. */
export class Workers {
  readonly searcher = new Searcher()
  readonly planMaker: PlanMaker
  readonly outliner = new Outliner()
  readonly syntaxChecker = new SyntaxChecker()

  constructor(planMaker = new PlanMaker()) {
    this.planMaker = planMaker
  }

  /** Waits for the jobs, and ends the threads. */
  async close(): Promise<void> {
    await Promise.all(
      [this.searcher, this.planMaker, this.outliner, this.syntaxChecker].map(workers => workers.close())
    )
  }
}
