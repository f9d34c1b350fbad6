// Package inflation says how much slower pods serve, by what they count themselves: how many CPU seconds a unit of work (a request, a row, a
// frame) takes now, against what it takes without the neighbours that make it slower, and which neighbour goes with the difference.
//
// Caches, memory bandwidth and hyper-threads make instructions slower without any waiting. Nothing but a reference for work shows that.
//
// # The reference
//
// In an interval pod p uses y CPU seconds a second for r units a second, beside neighbours that use nⱼ processors:
//
//	y = E(r)·(1 + Σⱼ gⱼ·nⱼ)·(1 + e),   E(r) = a + b·r,   a ≥ 0, b > 0
//
// The overhead a, as of a runtime and health checks, is the reason why a unit takes more CPU time when there are few: load that falls or
// rises is no inflation. a and b are fitted to all intervals, with the effects gⱼ of the neighbours that are named, by an MM-estimator (Yohai,
// Annals of Statistics 15, 1987) that starts from least absolute residuals and goes on with Tukey's biweight, so that episodes that fill
// less than half of the time do not become the reference. Weights are 1/(E² + Ē²), Ē the median of E: errors are taken as relative, and
// idle intervals do not count more for being idle. Where the rate hardly varies, a and b cannot be told apart, and a is taken for 0.
//
// What is always there is part of the reference: quiet is without the effects that were seen to come and go.
//
// An estimate of earlier intervals that are no longer known, as after a restart, stands for them in the reference (a [Before]): two points on its
// line that count as many intervals, and of which the error is added in quadrature to that of the fit, by the part that they have in it. The scale
// of the errors is then by how much the residuals of a pod differ from slot to slot, since all of them may be far from the line. It takes no part
// in what follows: which neighbours there were is not known.
//
// # Intervals
//
// Successive intervals are alike, so the textbook's errors are too small. Those here are from the sums x·e of a regression in each slot of time
// (all pods of a slot together, which may be alike too: Driscoll and Kraay, Review of Economics and Statistics 80, 1998), by the estimator of
// the long-run variance of equal weights on ν cosines, and Student's t with ν degrees of freedom, ν = 0.4·T^(2/3) for T slots: Lazarus, Lewis,
// Stock and Watson, "HAR inference: recommendations for practice", Journal of Business & Economic Statistics 36, 2018, where it is closer to
// the stated level than Newey and West's with normal quantiles. Unlike a bootstrap it needs no random numbers.
//
// The inflation is that of the last [Recent] slots: Σy/ΣE. How much such a mean varies where nothing happens is seen from the means of as many
// slots before them: half their interquartile range stands for a standard deviation, so that past episodes do not count, with a t of as many
// degrees of freedom as there are means that do not overlap. The error of the reference is added to it in quadrature.
//
// # Which neighbour
//
// What is explained is y, what explains it E·nⱼ for each neighbour. From both are taken, by weighted regression, the mean of each pod (pods that
// differ prove nothing), the overhead and the square of the load (Frisch and Waugh, Econometrica 1, 1933): who merely comes with load explains
// nothing. Then
//
//   - a neighbour of which less than half is left goes with the load of the pods itself, and is not tested: where units are counted a little
//     late, the load that is read is not that which there was, and what serves the same requests goes with the latter;
//   - one that is never away, which is up to 0.15 of what it uses at most, is not tested either. What makes all pods of a node slower, as another
//     virtual machine does, has their neighbours use more processors for the same work in the same minutes, but none that is away come;
//   - neighbours of which what is left correlates by more than 0.9 cannot be told apart, and are one group;
//   - of the groups at most 8, and one for each 8 slots, are tested: those that vary most;
//   - of their effects those below 0 are left out one after another, the lowest first, as in an active set of non-negative least squares;
//   - a group is named if the interval of its effect is above 0, at 99 % for all that are tested together (Bonferroni), it came or went
//     [minChanges] times or more, it adds [Noticeable] or more while it is there, and the inflation goes with its being there as well, at 95 %,
//     whatever it uses then.
//
// # Cost
//
// O(M·N²) time and O(M·N) memory for M intervals and N neighbours, M ≤ [MaxIntervals] and N ≤ [MaxNeighbours].
package inflation
