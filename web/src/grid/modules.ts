// Only what the grid uses of AG Grid; the rest stays out of the bundle.

import {
  CellApiModule,
  CellStyleModule,
  ColumnApiModule,
  EventApiModule,
  HighlightChangesModule,
  InfiniteRowModelModule,
  ModuleRegistry,
  RenderApiModule,
  RowApiModule,
  RowStyleModule,
  ScrollApiModule,
  TextEditorModule,
} from "ag-grid-community";

ModuleRegistry.registerModules([
  CellApiModule,
  CellStyleModule,
  ColumnApiModule,
  EventApiModule,
  HighlightChangesModule,
  InfiniteRowModelModule,
  RenderApiModule,
  RowApiModule,
  RowStyleModule,
  ScrollApiModule,
  TextEditorModule,
]);
