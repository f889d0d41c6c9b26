// Controls the load process for the bench: starts it, gives it orders, stops it.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { cpuOf } from '../machine.ts'
import type { Answers, Orders, Report } from './clients.ts'

interface Waiting {
  resolve: (answer: never) => void
  reject: (problem: Error) => void
}

export class Load {
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, Waiting>()
  #orders = 0

  constructor() {
    const script = fileURLToPath(new URL('./clients.js', import.meta.url))
    this.#process = fork(script, { serialization: 'advanced' })
    this.#process.on('message', (report: Report) => {
      const waiting = this.#waiting.get(report.id)!
      this.#waiting.delete(report.id)
      if ('problem' in report) waiting.reject(new Error(report.problem))
      else waiting.resolve(report.answer as never)
    })
    this.#process.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the load process ended'))
    })
  }

  /** Sends an order. Throws if any client got an answer other than success. */
  ask<K extends keyof Orders>(order: K, what: Orders[K]): Promise<Answers[K]> {
    return new Promise((resolve, reject) => {
      const id = this.#orders++
      this.#waiting.set(id, { resolve, reject })
      this.#process.send({ id, order, what }, problem => {
        if (problem !== null) reject(problem)
      })
    })
  }

  /** CPU time in ms that all its threads have used, without a server that it started. */
  cpu(): number {
    return cpuOf(this.#process.pid)
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.disconnect()
    await ended
  }
}
